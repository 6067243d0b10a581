// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stencil_job.hpp"

#include "numbers.hpp"
#include "taps_spec.hpp"

#include <algorithm>
#include <cstdio>
#include <span>

namespace tessera::cli {
namespace {

void check_rank(const Fields& input, const ParsedStencilArguments& parsed) {
  const std::size_t rank = input.shape().size();
  if (rank < 1 || rank > TESSERA_MAX_RANK)
    throw npy::Error(input.array.file, "holds an array of " + npy::axes_text(rank) + " (" + input.describe() +
                                           "); a stencil takes 1, 2 or 3");
  if (parsed.boundary.size() != 1 && parsed.boundary.size() != rank)
    throw npy::Error(input.array.file, "holds " + input.describe() + ", but --boundary names the modes of " +
                                           std::to_string(parsed.boundary.size()) +
                                           " axes: give one for each axis or one for all");
}

/// Checks what the file has and the command line says.
StencilDesc describe(const StencilArguments& arguments, const ParsedStencilArguments& parsed, const Fields& input) {
  check_rank(input, parsed);
  for (const BoundaryAxis& axis : parsed.boundary)
    for (const BoundarySide& side : {axis.low, axis.high})
      fitting("the value of a boundary", side.value, input.array.dtype);
  return {.extents = input.shape(),
          .taps = arguments.taps(parsed, int(input.shape().size())),
          .boundary = Boundaries(parsed.boundary),
          .steps = arguments.steps,
          .dtype = input.array.dtype,
          .in_strides = input.strides(),
          .sums = arguments.sums};
}

void add_types(CLI::App& command, StencilArguments& arguments) {
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
                      "not scaled without --rescale, but for alpha between u8 and u16")
      ->type_name("TYPE");
  command.add_flag(
      "--rescale", arguments.rescale,
      "for pictures: maps the least number of the result to 0 and the largest to 255 in u8, 65535 in u16 "
      "(in i8 and i16 to the type's least and largest, in floating point to 0 and 1), and those between in "
      "proportion; the channels of an image are mapped together, alpha is not; a result of one number "
      "alone becomes the least; a PNG image is u8 unless IN is u16 or --output-type says otherwise");
}

}  // namespace

CLI::App* add_stencil_command(CLI::App& app, StencilArguments& arguments) {
  CLI::App* const command =
      app.add_subcommand("stencil", "out[p] = sum of coefficient * in[p + offset], on an array or an image.");
  command
      ->add_option("IN", arguments.input,
                   "IN.npy: 1 to 3 axes, C or Fortran order, " + npy::known_numbers() +
                       "; or IN.png: grey or colour, each channel by itself; alpha is kept")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", arguments.output,
                   "OUT.npy, written in C order, or OUT.png; may be IN; without an ending .npy")
      ->required()
      ->type_name("FILE");
  arguments.add_to(*command);
  add_types(*command, arguments);
  command->footer("Named taps:\n" + NamedTaps::help() + NamedTaps::stability() +
                  "\nPrints the plan, the time, GStencil/s (points times steps) and GB/s (each step reads and writes a "
                  "point once). " +
                  kMeasured);
  return command;
}

ParsedStencilArguments parse(const StencilArguments& arguments) {
  return usage([&] {
    ParsedStencilArguments parsed{arguments.parse(), {}, {}};
    if (arguments.dtype) parsed.dtype = parse_element_type(*arguments.dtype, "--dtype");
    if (arguments.output_type)
      parsed.output_type = parse_type(*arguments.output_type, "--output-type", npy::stored_names());
    return parsed;
  });
}

StencilJob::StencilJob(const StencilArguments& arguments, const ParsedStencilArguments& parsed)
    : input_(read_fields(arguments.input, parsed.dtype)),
      desc_(describe(arguments, parsed, input_)),
      target_(target_of(arguments.output, input_, parsed.output_type, arguments.rescale)),
      output_(arguments.output, {".npy", ".png"}) {}

template <Element T>
std::vector<T> StencilJob::results() const {
  const T* const in = input_.array.data<T>();
  // Fields in Fortran order have one field only.
  std::vector<T> result(static_cast<std::size_t>(input_.array.size));
  const std::int64_t computed = input_.computed() * input_.size();
  const double alpha = alpha_scale(input_, target_);
  std::transform(in + computed, in + input_.array.size, result.data() + computed,
                 [alpha](T value) { return npy::nearest<T>(double(npy::number_of(value)) * alpha); });
  return result;
}

template <Element T>
void StencilJob::finish(const std::vector<T>& results, const std::string& plan, const Timing& timing) {
  const Written written = write_fields(output_, target_, input_, std::span<const T>(results));
  const double points = double(input_.computed() * input_.size()) * double(desc_.steps);
  std::FILE* const stream = report_stream(output_);
  report(stream, plan, timing, points, "GStencil/s", 2.0 * points * sizeof(T));
  std::fputs(said_of(input_, target_, written).c_str(), stream);
  check_printed(stream);
  output_.commit();
}

template std::vector<float> StencilJob::results() const;
template std::vector<double> StencilJob::results() const;
template std::vector<float16> StencilJob::results() const;
template std::vector<bfloat16> StencilJob::results() const;
template void StencilJob::finish(const std::vector<float>&, const std::string&, const Timing&);
template void StencilJob::finish(const std::vector<double>&, const std::string&, const Timing&);
template void StencilJob::finish(const std::vector<float16>&, const std::string&, const Timing&);
template void StencilJob::finish(const std::vector<bfloat16>&, const std::string&, const Timing&);

}  // namespace tessera::cli
