// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "commands.hpp"
#include "npy.hpp"
#include "png_image.hpp"

namespace tessera::cli {
namespace {

/// An option that takes one of some names.
template <class Value, std::size_t kCount>
CLI::Option* add_named(CLI::App& command, const std::string& name, Value& value, const Named<Value> (&known)[kCount],
                       const std::string& description) {
  const std::string names = npy::joined(known, "|", [](const auto& one) { return one.name; });
  const auto parse = [&known, names](const std::string& text, const std::string& what) {
    if (const std::optional<Value> found = find(text, known)) return *found;
    throw std::invalid_argument(what + ": '" + npy::clip(text) + "' is unknown; there are " + names);
  };
  return add_parsed(command, name, value, parse, names, description);
}

constexpr Named<Bias> kAxes[] = {{"row", Bias::per_row}, {"column", Bias::per_column}};

}  // namespace

CLI::Option* add_file(CLI::App& command, const std::string& name, std::string& value, const std::string& description) {
  return command.add_option(name, value, description)->required()->type_name("FILE");
}

CLI::Option* add_compute(CLI::App& command, Compute& value) {
  return add_named(command, "--compute", value, kComputes,
                   "the least exact arithmetic that is accepted: strict (default, unless TESSERA_GEMM_COMPUTE says "
                   "else) rounds to the type or better; the others are for f32");
}

CLI::Option* add_activation(CLI::App& command, Activation& value) {
  return add_named(command, "--activation", value, kActivations,
                   "applied to each element at last (default: none); gelu is by erf");
}

CLI::Option* add_product_sums(CLI::App& command, Sums& value) {
  return add_named(command, "--sums", value, kSums,
                   "any (default): the fastest algorithm adds the products in its order; ordered: on one backend a "
                   "row of the result has the same bits, however many rows there are");
}

CLI::Option* add_triangle(CLI::App& command, Triangle& value) {
  return add_named(command, "--triangle", value, kTriangles,
                   "of a square result: lower or upper, what is computed, with the diagonal (the rest stays as it is); "
                   "mirrored, of a symmetric one: a triangle, then its copy on the other side (default: none)");
}

CLI::Option* add_bias(CLI::App& command, const std::string& name, Bias& value, const std::string& description) {
  return add_named(command, name, value, kAxes, description);
}

void StencilOptions::add_to(CLI::App& command) {
  CLI::Option_group* const group = command.add_option_group("taps", "what the stencil is");
  CLI::Option* const file =
      group
          ->add_option("--taps", taps_file,
                       "JSON: [{\"offset\": [dy, dx], \"coefficient\": c}, ...]; or KERNEL.npy: as many axes as the "
                       "array, applied as by scipy.ndimage.correlate (not flipped); its zeros are no taps")
          ->type_name("FILE");
  group->add_option("--named", named_text, "see below")->type_name("NAME[:X...]");
  group->require_option(1);
  add_parsed(command, "--origin", origin, parse_origin, "N[,N...]",
             "of KERNEL.npy: the tap at the point itself is element extent / 2 + N; one for all axes or one for each "
             "(default: 0; must be given where an extent is even)")
      ->needs(file);
  command
      .add_option("--boundary", boundary_text,
                  "fixed (default), constant[:X], periodic, nearest, reflect, mirror, as in scipy.ndimage, whose wrap "
                  "is periodic; LOW/HIGH where sides differ; one for all axes or one for each")
      ->type_name("MODE[,MODE...]");
  add_parsed(command, "--value", value, parse_number, "X",
             "value of constant sides that have none of their own (default: 0)");
  add_parsed(command, "--steps", steps, parse_count, "N", "applications, 0 and more (default: 1)");
  add_parsed(command, "--spacing", spacing, parse_number, "X",
             "distance of neighbouring points, for derivatives (default: 1)")
      ->excludes(file);
  add_named(command, "--sums", sums, kSums,
            "any (default): the fastest algorithm adds the taps in its order; ordered: all add them in one order of "
            "the backend, and give the same bits");
}

void StencilOptions::parse() {
  usage([&] {
    if (named_text) named.emplace(*named_text, spacing);
    boundary = parse_boundaries(boundary_text, value);
  });
}

Taps StencilOptions::taps(int rank) const {
  if (named) return named->make(rank);
  if (npy::is_npy(taps_file)) return read_kernel(taps_file, rank, origin.value_or(std::vector<std::int64_t>()));
  if (png::is_png(taps_file))
    throw npy::Error(taps_file, "is a PNG image, which is no kernel; give a .npy file, or JSON with the taps");
  if (origin) throw npy::Error(taps_file, "--origin is one of a kernel in a .npy file, which this is not");
  return read_taps(taps_file, rank);
}

void Choice::add_to(CLI::App& command) {
  command.add_option("--backend", backend, "cpu, cuda:1, ...; default: TESSERA_BACKEND, else the best for the problem")
      ->type_name("NAME");
  command.add_option("--algorithm", algorithm, "name[:key=value,...] as 'tessera info' lists them")->type_name("NAME");
}

}  // namespace tessera::cli
