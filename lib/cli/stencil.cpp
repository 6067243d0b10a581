// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "fields.hpp"
#include "measure.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tessera::cli {
namespace {

struct StencilArguments : StencilOptions {
  std::string input, output;
  std::optional<DType> dtype;
  std::optional<npy::Stored> output_type;
  bool rescale = false;
  Choice choice;
};

void add_types(CLI::App& command, StencilArguments& arguments) {
  add_parsed(command, "--dtype", arguments.dtype, parse_element_type, "TYPE",
             "what is computed in: " + element_names() +
                 " (default: as the file, f32 for integers of up to 16 bits, f64 for larger ones); f16 and bf16 "
                 "are rounded to after each step, which is computed in f32; with bf16 a file of uint16 holds "
                 "its bits, since NumPy has no such type");
  add_parsed(command, "--output-type", arguments.output_type, parse_stored_type, "TYPE",
             "what is written (default: as the file): " + npy::stored_names() +
                 "; integers are rounded to the nearest, halves to even, and clamped to their range; numbers are "
                 "not scaled without --rescale, but for alpha between u8 and u16");
  command.add_flag(
      "--rescale", arguments.rescale,
      "for pictures: maps the least number of the result to 0 and the largest to 255 in u8, 65535 in u16 "
      "(in i8 and i16 to the type's least and largest, in floating point to 0 and 1), and those between in "
      "proportion; the channels of an image are mapped together, alpha is not; a result of one number "
      "alone becomes the least; a PNG image is u8 unless IN is u16 or --output-type says otherwise");
}

/// Checks what the file has and the command line says.
StencilDesc describe(const StencilArguments& arguments, const Fields& input) {
  const std::vector<std::int64_t>& shape = input.array.shape;
  const std::vector<BoundaryAxis>& boundary = arguments.boundary;
  if (shape.empty() || shape.size() > TESSERA_MAX_RANK)
    throw npy::Error(input.array.file, "holds an array of " + npy::axes_text(shape.size()) + " (" + input.describe() +
                                           "); a stencil takes 1, 2 or 3");
  if (boundary.size() != 1 && boundary.size() != shape.size())
    throw npy::Error(input.array.file, "holds " + input.describe() + ", but --boundary names the modes of " +
                                           std::to_string(boundary.size()) +
                                           " axes: give one for each axis or one for all");
  for (const BoundaryAxis& axis : boundary)
    for (const BoundarySide& side : {axis.low, axis.high})
      fitting("the value of a boundary", side.value, input.array.dtype);
  return {.extents = shape,
          .taps = arguments.taps(int(shape.size())),
          .boundary = Boundaries(boundary),
          .steps = arguments.steps,
          .dtype = input.array.dtype,
          .in_strides = input.array.strides(),
          .sums = arguments.sums};
}

template <Element T>
void apply(const Choice& choice, const StencilDesc& desc, const Fields& input, const Target& target,
           npy::OutputFile& output) {
  auto plan = choice.plan<StencilPlan>(desc);
  const T* const in = input.array.data<T>();
  const std::int64_t size = input.size(), computed = input.computed_size();
  std::vector<T> results(static_cast<std::size_t>(computed));
  const Timing timing = measure([&] {  // fields in Fortran order have one only
    for (std::int64_t at = 0; at < computed; at += size) plan.execute(in + at, results.data() + at);
  });
  const std::string said = write_fields(output, target, input, std::span<const T>(results));
  const double points = double(computed) * double(desc.steps);
  finish(output, plan.describe(), timing, points, "GStencil/s", 2.0 * points * sizeof(T), said);
}

void run_stencil(const StencilArguments& arguments) {
  const Fields input = read_fields(arguments.input, arguments.dtype);
  const StencilDesc desc = describe(arguments, input);
  const Target target = target_of(arguments.output, input, arguments.output_type, arguments.rescale);
  npy::OutputFile output(arguments.output, {".npy", ".png"});
  with_types(desc.dtype,
             [&]<class T>(std::type_identity<T>) { apply<T>(arguments.choice, desc, input, target, output); });
}

}  // namespace

void add_stencil(CLI::App& app, Run& run) {
  const auto arguments = std::make_shared<StencilArguments>();
  CLI::App* const command =
      app.add_subcommand("stencil", "out[p] = sum of coefficient * in[p + offset], on an array or an image.");
  add_file(*command, "IN", arguments->input,
           "IN.npy: 1 to 3 axes, C or Fortran order, " + npy::known_numbers() +
               "; or IN.png: grey or colour, each channel by itself; alpha is kept");
  add_file(*command, "-o,--output", arguments->output,
           "OUT.npy, written in C order, or OUT.png; may be IN; without an ending .npy");
  arguments->add_to(*command);
  add_types(*command, *arguments);
  arguments->choice.add_to(*command);
  command->footer(
      "Named taps:\n" + NamedTaps::help() +
      "heat is stable for FACTOR up to C spacing^2 / axes, C = 0.5, 0.375, 0.33, 0.307 for accuracy 2, 4, 6, "
      "8.\nPrints the plan, the time, GStencil/s (points times steps) and GB/s (each step reads and writes a "
      "point once). " +
      kMeasured);
  command->callback([arguments, &run] {
    arguments->parse();
    run = [arguments] { run_stencil(*arguments); };
  });
}

}  // namespace tessera::cli
