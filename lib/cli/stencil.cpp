// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "measure.hpp"
#include "npy.hpp"
#include "numbers.hpp"
#include "taps_spec.hpp"

#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace tessera::cli {
namespace {

struct Arguments {
  std::string input, output, taps_file, boundary = "fixed";
  std::optional<std::string> named;
  double value = 0.0;
  std::optional<double> spacing;
  std::int64_t steps = 1;
  Choice choice;
};

/// What the command line alone determines; mistakes in it are mistakes of usage.
struct Parsed {
  std::optional<NamedTaps> named;
  std::vector<BoundaryAxis> boundary;
};

Parsed parse(const Arguments& arguments) {
  try {
    Parsed parsed;
    if (arguments.named) parsed.named.emplace(*arguments.named, arguments.spacing);
    parsed.boundary = parse_boundaries(arguments.boundary, arguments.value);
    return parsed;
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(error.what());
  }
}

template <Element T>
void apply(const Choice& choice, const StencilDesc& desc, const npy::Array& input, npy::OutputFile& output) {
  auto plan = choice.plan<StencilPlan>(desc);
  std::vector<T> result(static_cast<std::size_t>(input.size));
  const Timing timing = measure([] {}, [&] { plan.execute(input.data<T>(), result.data()); });
  output.write(std::span<const T>(result), desc.extents);

  const double points = double(input.size) * double(desc.steps);
  report(report_stream(output), plan, timing, points, "GStencil/s", 2.0 * points * sizeof(T));
  output.commit();
}

void run_stencil(const Arguments& arguments, const Parsed& parsed) {
  const npy::Array input = npy::read(arguments.input);
  const std::size_t rank = input.shape.size();
  if (rank < 1 || rank > TESSERA_MAX_RANK)
    throw npy::Error(input.file, "holds an array of " + std::to_string(rank) + " axes (" + input.describe() +
                                     "); a stencil takes 1, 2 or 3");
  if (parsed.boundary.size() != 1 && parsed.boundary.size() != rank)
    throw npy::Error(input.file, "holds " + input.describe() + ", but --boundary names the modes of " +
                                     std::to_string(parsed.boundary.size()) +
                                     " axes: give one for each axis or one for all");
  for (const BoundaryAxis& axis : parsed.boundary)
    for (const BoundarySide& side : {axis.low, axis.high}) fitting("the value of a boundary", side.value, input.dtype);
  const int axes = static_cast<int>(rank);
  const StencilDesc desc{.extents = input.shape,
                         .taps = parsed.named ? parsed.named->make(axes) : read_taps(arguments.taps_file, axes),
                         .boundary = Boundaries(parsed.boundary),
                         .steps = arguments.steps,
                         .dtype = input.dtype,
                         .in_strides = input.strides()};
  npy::OutputFile output(arguments.output);
  with_types(input.dtype, [&]<class T>(std::type_identity<T>) { apply<T>(arguments.choice, desc, input, output); });
}

}  // namespace

void add_stencil(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("stencil", "out[p] = sum of coefficient * in[p + offset], on an array in a .npy file.");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("IN", arguments->input, "IN.npy: 1 to 3 axes, " + npy::known_types() + ", C or Fortran order")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", arguments->output, "OUT.npy: written in C order; may be IN.npy")
      ->required()
      ->type_name("FILE");
  CLI::Option_group* const taps = command->add_option_group("taps", "exactly one of");
  CLI::Option* const file =
      taps->add_option("--taps", arguments->taps_file, "JSON: [{\"offset\": [dy, dx], \"coefficient\": c}, ...]")
          ->type_name("FILE");
  taps->add_option("--named", arguments->named, "see below")->type_name("NAME[:X...]");
  taps->require_option(1);
  command
      ->add_option("--boundary", arguments->boundary,
                   "fixed (default), constant[:X], periodic, nearest, reflect, mirror; LOW/HIGH where sides differ; "
                   "one for all axes or one for each")
      ->type_name("MODE[,MODE...]");
  add_number(*command, "--value", arguments->value, "value of a constant boundary (default: 0)");
  add_count(*command, "--steps", arguments->steps, "applications, 0 and more (default: 1)");
  add_number(*command, "--spacing", arguments->spacing, "distance of neighbouring points, for derivatives (default: 1)")
      ->excludes(file);
  arguments->choice.add_to(*command);
  command->footer(
      "Named taps:\n" + NamedTaps::help() +
      "Prints the plan, the time, GStencil/s (points times steps) and GB/s (each step reads and writes a point once).");
  command->callback(
      [arguments, &run] { run = [arguments, parsed = parse(*arguments)] { run_stencil(*arguments, parsed); }; });
}

}  // namespace tessera::cli
