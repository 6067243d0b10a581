// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stencil_options.hpp"

#include "commands.hpp"
#include "named_value.hpp"
#include "npy.hpp"
#include "png_image.hpp"

namespace tessera::cli {
namespace {

/// Returns the option that names a file.
CLI::Option* add_taps(CLI::App& command, StencilOptions& options) {
  CLI::Option_group* const taps = command.add_option_group("taps", "what the stencil is");
  CLI::Option* const file =
      taps->add_option("--taps", options.taps_file,
                       "JSON: [{\"offset\": [dy, dx], \"coefficient\": c}, ...]; or KERNEL.npy: as many axes as the "
                       "array, applied as by scipy.ndimage.correlate (not flipped); its zeros are no taps")
          ->type_name("FILE");
  taps->add_option("--named", options.named, "see below")->type_name("NAME[:X...]");
  taps->require_option(1);
  command
      .add_option("--origin", options.origin,
                  "of KERNEL.npy: the tap at the point itself is element extent / 2 + N; one for all axes or one for "
                  "each (default: 0; must be given where an extent is even)")
      ->type_name("N[,N...]")
      ->needs(file);
  return file;
}

}  // namespace

void StencilOptions::add_to(CLI::App& command) {
  CLI::Option* const file = add_taps(command, *this);
  command
      .add_option(
          "--boundary", boundary,
          "fixed (default), constant[:X], periodic, nearest, reflect, mirror, as in scipy.ndimage, whose wrap is "
          "periodic; LOW/HIGH where sides differ; one for all axes or one for each")
      ->type_name("MODE[,MODE...]");
  add_number(command, "--value", value, "value of constant sides that have none of their own (default: 0)");
  add_count(command, "--steps", steps, "applications, 0 and more (default: 1)");
  add_number(command, "--spacing", spacing, "distance of neighbouring points, for derivatives (default: 1)")
      ->excludes(file);
  add_named_value<Sums>(command, "--sums", sums, {{"any", Sums::any}, {"ordered", Sums::ordered}},
                        "any (default): the fastest algorithm adds the taps in its order; ordered: all add them in "
                        "one order of the backend, and give the same bits");
}

ParsedStencil StencilOptions::parse() const {
  ParsedStencil parsed;
  if (named) parsed.named.emplace(*named, spacing);
  if (origin) parsed.origin = parse_origin(*origin);
  parsed.boundary = parse_boundaries(boundary, value);
  return parsed;
}

Taps StencilOptions::taps(const ParsedStencil& parsed, int rank) const {
  if (parsed.named) return parsed.named->make(rank);
  if (npy::is_npy(taps_file)) return read_kernel(taps_file, rank, parsed.origin);
  if (png::is_png(taps_file))
    throw npy::Error(taps_file, "is a PNG image, which is no kernel; give a .npy file, or JSON with the taps");
  if (origin) throw npy::Error(taps_file, "--origin is one of a kernel in a .npy file, which this is not");
  return read_taps(taps_file, rank);
}

}  // namespace tessera::cli
