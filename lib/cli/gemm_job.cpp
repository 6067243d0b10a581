// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm_job.hpp"

#include "numbers.hpp"
#include "png_image.hpp"
#include "product_options.hpp"

#include <cstdio>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tessera::cli {
namespace {

/// Elements of `dtype`, or as they are.
npy::Array read_array(const std::string& file, std::optional<DType> dtype) {
  if (png::is_png(file)) throw npy::Error(file, "is a PNG image; the matrices of a product are read from .npy files");
  return dtype ? npy::read_numbers(file, dtype) : npy::read(file);
}

void require_matrix(const npy::Array& matrix) {
  if (matrix.shape.size() != 2)
    throw npy::Error(matrix.file, "holds an array of " + npy::axes_text(matrix.shape.size()) + " (" +
                                      matrix.describe() +
                                      "); expected a matrix, which has 2: say what a vector is, with NumPy "
                                      "array.reshape(-1, 1) for a column or array.reshape(1, -1) for a row");
}

npy::Array read_matrix(const std::string& file, std::optional<DType> dtype) {
  npy::Array matrix = read_array(file, dtype);
  require_matrix(matrix);
  return matrix;
}

void require_type(const npy::Array& matrix, const npy::Array& like) {
  if (matrix.dtype != like.dtype)
    throw npy::Error(matrix.file, "holds " + matrix.describe() + ", but " +
                                      npy::clip(like.file.native(), npy::kShownName) + " holds " + like.describe() +
                                      ": the types must be the same");
}

/// Rows and columns of op(X).
std::pair<std::int64_t, std::int64_t> shape_of(const npy::Array& x, bool transposed) {
  return transposed ? std::pair(x.shape[1], x.shape[0]) : std::pair(x.shape[0], x.shape[1]);
}

/// A matrix in Fortran order is its transpose in C order, so no file needs to be copied into another order.
Transpose transpose_of(const npy::Array& x, bool transposed) {
  return transposed != x.fortran_order ? Transpose::yes : Transpose::no;
}

/// The elements of a matrix whose shape was checked, in C order.
template <Element T>
std::vector<T> in_c_order(const npy::Array& matrix) {
  const T* const data = matrix.data<T>();
  std::vector<T> result(data, data + matrix.size);
  const std::int64_t rows = matrix.shape[0], columns = matrix.shape[1];
  if (matrix.fortran_order)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) result[std::size_t(i * columns + j)] = data[j * rows + i];
  return result;
}

/// The type of alpha, beta and sums.
DType scalar_of(DType dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return kDType<Scalar<T>>; });
}

/// What became of the numbers on the way, a line; empty where elements were read and are written as they are.
std::string said_of(const GemmOperands& operands, DType output) {
  std::string text;
  bool as_they_are = output != DType::bf16;
  const auto say = [&](const char* name, const npy::Array& array) {
    text += (text.empty() ? "" : ", ") + std::string(name) + " read as " + array.describe();
    as_they_are = as_they_are && array.stored == npy::stored_of(array.dtype);
  };
  say("A", operands.a), say("B", operands.b);
  if (operands.c0) say("C0", *operands.c0);
  if (operands.bias) say("the bias", *operands.bias);
  if (as_they_are) return "";
  return text + ", computed in " + name_of(operands.a.dtype) + ", written as " +
         npy::file_name_of(npy::stored_of(output)) + "\n";
}

/// The type of the output, and so of C0.
DType output_type(const ParsedGemmArguments& types, DType matrices) {
  const DType chosen = types.output.value_or(matrices), scalar = scalar_of(matrices);
  if (chosen == matrices || chosen == scalar) return chosen;
  throw std::runtime_error(std::string("--output-type = ") + name_of(chosen) + ": the product of " + name_of(matrices) +
                           " is written as " + name_of(matrices) +
                           (scalar == matrices ? "" : std::string(" or ") + name_of(scalar)) +
                           "; --dtype says what it is computed in");
}

/// C0 or a bias: the bits of bf16 and integers as A and B are, other numbers of a larger type not by way of it.
npy::Array read_beside(const std::string& file, const ParsedGemmArguments& types, DType dtype) {
  npy::Array array = read_array(file, types.matrices);
  if (!types.matrices || array.dtype == dtype) return array;
  if (npy::is_floating(array.stored) && size_of(array.stored) > size_of(array.dtype))
    return npy::read_numbers(file, dtype);
  return npy::converted(std::move(array), dtype);
}

npy::Array read_c0(const GemmArguments& arguments, const ParsedGemmArguments& types, DType output, std::int64_t m,
                   std::int64_t n) {
  npy::Array c0 = read_beside(*arguments.c, types, output);
  require_matrix(c0);
  if (c0.dtype != output)
    throw npy::Error(
        c0.file, "holds " + c0.describe() + "; the product is " + name_of(output) + ", and C0 must have the same type");
  if (shape_of(c0, false) != std::pair(m, n))
    throw npy::Error(c0.file, "holds " + c0.describe() + "; the product is " + std::to_string(m) + " x " +
                                  std::to_string(n) + ", and C0 must have the same shape");
  return c0;
}

/// As the type of alpha and beta, which holds all that a bias may be.
npy::Array read_bias(const GemmArguments& arguments, const ParsedGemmArguments& types, DType matrices, DType output,
                     std::int64_t m, std::int64_t n) {
  const DType scalar = scalar_of(output);
  npy::Array bias = read_beside(*arguments.bias, types, scalar);
  if (bias.shape.size() != 1)
    throw npy::Error(bias.file, "holds an array of " + npy::axes_text(bias.shape.size()) + " (" + bias.describe() +
                                    "); expected a bias, a vector, which has 1: NumPy's array.ravel() makes one");
  if (bias.dtype != matrices && bias.dtype != output && bias.dtype != scalar)
    throw npy::Error(bias.file, "holds a bias of type " + std::string(name_of(bias.dtype)) + "; expected " +
                                    name_of(matrices) + ", as A and B" +
                                    (scalar == matrices ? "" : std::string(", or ") + name_of(scalar)));
  const auto axis = [](bool row) { return std::string(row ? "row" : "column"); };
  const bool row = arguments.bias_axis == Bias::per_row;
  if (bias.size != (row ? m : n))
    throw npy::Error(bias.file, "holds a bias of " + std::to_string(bias.size) + " values; --bias-axis " + axis(row) +
                                    " adds one to each " + axis(row) + " of the product, which has " +
                                    std::to_string(row ? m : n) +
                                    (bias.size == (row ? n : m) ? ": --bias-axis " + axis(!row) + " fits" : ""));
  return npy::converted(std::move(bias), scalar);
}

/// Checks the shapes that the files have and the command line says.
GemmDesc describe(const GemmArguments& arguments, const npy::Array& a, const npy::Array& b) {
  const auto [m, k] = shape_of(a, arguments.trans_a);
  const auto [k_of_b, n] = shape_of(b, arguments.trans_b);
  if (k != k_of_b)
    throw npy::Error(b.file, "op(B) has " + std::to_string(k_of_b) + " rows (B is " + b.describe() +
                                 "), but op(A) has " + std::to_string(k) + " columns (A, " +
                                 npy::clip(a.file.native(), npy::kShownName) + ", is " + a.describe() +
                                 "); they must agree: --trans-a and --trans-b transpose");
  return {.m = m,
          .n = n,
          .k = k,
          .dtype = a.dtype,
          .trans_a = transpose_of(a, arguments.trans_a),
          .trans_b = transpose_of(b, arguments.trans_b),
          .compute = arguments.compute,
          .activation = arguments.activation};
}

/// Reads what is multiplied and added.
GemmDesc read_operands(const GemmArguments& arguments, const ParsedGemmArguments& types, GemmOperands& operands) {
  operands.a = read_matrix(arguments.a, types.matrices);
  operands.b = read_matrix(arguments.b, types.matrices);
  require_type(operands.b, operands.a);
  GemmDesc desc = describe(arguments, operands.a, operands.b);
  const DType type = output_type(types, desc.dtype);
  desc.dtype_d = type;
  if (arguments.c) operands.c0 = read_c0(arguments, types, type, desc.m, desc.n);
  if (arguments.bias) {
    operands.bias = read_bias(arguments, types, desc.dtype, type, desc.m, desc.n);
    desc.bias = arguments.bias_axis;
    desc.dtype_bias = operands.bias->dtype;
  }
  if (std::filesystem::path(arguments.output).extension() == ".png")
    throw npy::Error(arguments.output, "cannot be written: a product is written as a .npy file, not as a PNG image");
  return desc;
}

/// A scalar of the product, rounded to its type.
double scalar(const char* name, double value, DType output) {
  const DType type = scalar_of(output);
  return with_types(type,
                    [&]<class S>(std::type_identity<S>) { return double(Scalar<S>(fitting(name, value, type))); });
}

void add_types(CLI::App& command, GemmArguments& arguments) {
  command
      .add_option("--dtype", arguments.dtype,
                  "what A and B are taken as: " + element_names() +
                      " (default: as the files); with bf16 a file of uint16 holds its bits, since NumPy has no such "
                      "type")
      ->type_name("TYPE");
  command
      .add_option("--output-type", arguments.output_type,
                  "of the product and of C0: that of A and B (default), or f32 where that is f16 or bf16; bf16 is "
                  "written as uint16")
      ->type_name("TYPE");
  add_compute(command, arguments.compute);
}

/// A bias and an activation.
void add_epilogue(CLI::App& command, GemmArguments& arguments) {
  CLI::Option* const bias =
      command.add_option("--bias", arguments.bias, "BIAS.npy: a vector, added to each row or column of the product")
          ->type_name("FILE");
  add_bias(command, "--bias-axis", arguments.bias_axis,
           "row: value i is added to row i, of m; column: value j to column j, of n, as by a layer of a network "
           "(default)")
      ->needs(bias);
  add_activation(command, arguments.activation);
}

}  // namespace

CLI::App* add_gemm_command(CLI::App& app, GemmArguments& arguments) {
  CLI::App* const command =
      app.add_subcommand("gemm", "D <- activation(alpha op(A) op(B) + beta C0 + bias), on matrices in .npy files.");
  command->add_option("A", arguments.a, "A.npy: m x k, " + npy::known_types() + ", C or Fortran order")
      ->required()
      ->type_name("FILE");
  command->add_option("B", arguments.b, "B.npy: k x n")->required()->type_name("FILE");
  command->add_option("-o,--output", arguments.output, "D.npy: written in C order; may be a file that is read")
      ->required()
      ->type_name("FILE");
  CLI::Option* c = command->add_option("--c", arguments.c, "C0.npy: m x n, added")->type_name("FILE");
  add_number(*command, "--alpha", arguments.alpha, "default: 1");
  add_number(*command, "--beta", arguments.beta, "default: 1")->needs(c);
  command->add_flag("--trans-a", arguments.trans_a, "op(A) is the transpose of the array in A.npy");
  command->add_flag("--trans-b", arguments.trans_b, "op(B) is the transpose of the array in B.npy");
  add_types(*command, arguments);
  add_epilogue(*command, arguments);
  command->footer("Prints the plan, the time, GFLOP/s and GB/s (A, B and D moved once, C0 where it is added). " +
                  std::string(kMeasured));
  return command;
}

ParsedGemmArguments parse(const GemmArguments& arguments) {
  return usage([&] {
    ParsedGemmArguments types;
    if (arguments.dtype) types.matrices = parse_element_type(*arguments.dtype, "--dtype");
    if (arguments.output_type) types.output = parse_element_type(*arguments.output_type, "--output-type");
    return types;
  });
}

GemmJob::GemmJob(const GemmArguments& arguments, const ParsedGemmArguments& parsed)
    : desc_(read_operands(arguments, parsed, operands_)),
      output_(arguments.output),
      alpha_(scalar("--alpha", arguments.alpha.value_or(1.0), *desc_.dtype_d)),
      beta_(scalar("--beta", arguments.beta.value_or(operands_.c0 ? 1.0 : 0.0), *desc_.dtype_d)) {}

template <Element D>
std::vector<D> GemmJob::c0() const {
  return operands_.c0 ? in_c_order<D>(*operands_.c0) : std::vector<D>();
}

template <Element D>
void GemmJob::finish(const std::vector<D>& d, const std::string& plan, const Timing& timing) {
  output_.write(std::span<const D>(d), {desc_.m, desc_.n});
  const double m = double(desc_.m), n = double(desc_.n), k = double(desc_.k);
  const double bytes =
      (m * k + k * n) * double(size_of(desc_.dtype)) + m * n * (!operands_.c0 || beta_ == 0.0 ? 1.0 : 2.0) * sizeof(D);
  std::FILE* const stream = report_stream(output_);
  report(stream, plan, timing, 2.0 * m * n * k, "GFLOP/s", bytes);
  std::fputs(said_of(operands_, *desc_.dtype_d).c_str(), stream);
  check_printed(stream);
  output_.commit();
}

template std::vector<float> GemmJob::c0() const;
template std::vector<double> GemmJob::c0() const;
template std::vector<float16> GemmJob::c0() const;
template std::vector<bfloat16> GemmJob::c0() const;
template void GemmJob::finish(const std::vector<float>&, const std::string&, const Timing&);
template void GemmJob::finish(const std::vector<double>&, const std::string&, const Timing&);
template void GemmJob::finish(const std::vector<float16>&, const std::string&, const Timing&);
template void GemmJob::finish(const std::vector<bfloat16>&, const std::string&, const Timing&);

}  // namespace tessera::cli
