// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "fields.hpp"
#include "measure.hpp"
#include "npy.hpp"
#include "numbers.hpp"
#include "png_image.hpp"
#include "stencil_options.hpp"
#include "taps_spec.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace tessera::cli {
namespace {

struct Arguments : StencilOptions {
  std::string input, output;
  std::optional<std::string> dtype, output_type;
  Choice choice;
};

/// What the command line alone determines; mistakes in it are mistakes of usage.
struct Parsed : ParsedStencil {
  std::optional<DType> dtype;
  std::optional<npy::Stored> output_type;
};

Parsed parse(const Arguments& arguments) {
  return usage([&] {
    Parsed parsed{arguments.parse(), {}, {}};
    if (arguments.dtype) parsed.dtype = parse_element_type(*arguments.dtype, "--dtype");
    if (arguments.output_type)
      parsed.output_type = parse_type(*arguments.output_type, "--output-type", npy::stored_names());
    return parsed;
  });
}

template <Element T>
void apply(const Choice& choice, const StencilDesc& desc, const Fields& input, const Target& target,
           npy::OutputFile& output) {
  auto plan = choice.plan<StencilPlan>(desc);
  const T* const in = input.array.data<T>();
  // Fields in Fortran order have one field only.
  std::vector<T> result(static_cast<std::size_t>(input.array.size));
  const std::int64_t computed = input.computed() * input.size();
  const double alpha = alpha_scale(input, target);
  std::transform(in + computed, in + input.array.size, result.data() + computed,
                 [alpha](T value) { return npy::nearest<T>(double(npy::number_of(value)) * alpha); });
  const Timing timing = measure([] {},
                                [&] {
                                  for (std::int64_t at = 0; at < computed; at += input.size())
                                    plan.execute(in + at, result.data() + at);
                                });
  const std::int64_t clamped = write_fields(output, target, input, std::span<const T>(result));

  const double points = double(computed) * double(desc.steps);
  std::FILE* const stream = report_stream(output);
  report(stream, plan, timing, points, "GStencil/s", 2.0 * points * sizeof(T));
  std::fputs(said_of(input, target, clamped).c_str(), stream);
  check_printed(stream);
  output.commit();
}

void check_rank(const Fields& input, const Parsed& parsed) {
  const std::size_t rank = input.shape().size();
  if (rank < 1 || rank > TESSERA_MAX_RANK)
    throw npy::Error(input.array.file, "holds an array of " + npy::axes_text(rank) + " (" + input.describe() +
                                           "); a stencil takes 1, 2 or 3");
  if (parsed.boundary.size() != 1 && parsed.boundary.size() != rank)
    throw npy::Error(input.array.file, "holds " + input.describe() + ", but --boundary names the modes of " +
                                           std::to_string(parsed.boundary.size()) +
                                           " axes: give one for each axis or one for all");
}

void run_stencil(const Arguments& arguments, const Parsed& parsed) {
  const Fields input = read_fields(arguments.input, parsed.dtype);
  check_rank(input, parsed);
  const DType dtype = input.array.dtype;
  for (const BoundaryAxis& axis : parsed.boundary)
    for (const BoundarySide& side : {axis.low, axis.high}) fitting("the value of a boundary", side.value, dtype);
  const StencilDesc desc{.extents = input.shape(),
                         .taps = arguments.taps(parsed, int(input.shape().size())),
                         .boundary = Boundaries(parsed.boundary),
                         .steps = arguments.steps,
                         .dtype = dtype,
                         .in_strides = input.strides(),
                         .sums = arguments.sums};
  const Target target = target_of(arguments.output, input, parsed.output_type);
  npy::OutputFile output(arguments.output, {".npy", ".png"});
  with_types(dtype, [&]<class T>(std::type_identity<T>) { apply<T>(arguments.choice, desc, input, target, output); });
}

void add_types(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--dtype", arguments.dtype,
                  "what is computed in: " + element_names() +
                      " (default: as the file, f32 for integers of up to 16 bits, f64 for larger ones); f16 and bf16 "
                      "are rounded to after each step, which is computed in f32; with bf16 a file of uint16 holds "
                      "its bits, since NumPy has no such type")
      ->type_name("TYPE");
  command
      .add_option("--output-type", arguments.output_type,
                  "what is written (default: as the file): " + npy::stored_names() +
                      "; integers are rounded to the nearest, halves to even, and clamped to their range; numbers are "
                      "not scaled, "
                      "but for alpha between u8 and u16")
      ->type_name("TYPE");
}

}  // namespace

void add_stencil(CLI::App& app, Run& run) {
  CLI::App* command =
      app.add_subcommand("stencil", "out[p] = sum of coefficient * in[p + offset], on an array or an image.");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("IN", arguments->input,
                   "IN.npy: 1 to 3 axes, C or Fortran order, " + npy::known_numbers() +
                       "; or IN.png: grey or colour, each channel by itself; alpha is kept")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments->output,
                   "OUT.npy, written in C order, or OUT.png; may be IN; without an ending .npy")
      ->required()
      ->type_name("FILE");
  arguments->add_to(*command);
  add_types(*command, *arguments);
  arguments->choice.add_to(*command);
  command->footer("Named taps:\n" + NamedTaps::help() + NamedTaps::stability() +
                  "\nPrints the plan, the time, GStencil/s (points times steps) and GB/s (each step reads and writes a "
                  "point once). " +
                  kMeasured);
  command->callback(
      [arguments, &run] { run = [arguments, parsed = parse(*arguments)] { run_stencil(*arguments, parsed); }; });
}

}  // namespace tessera::cli
