// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "measure.hpp"
#include "npy.hpp"
#include "png_image.hpp"

#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::cli {
namespace {

struct GemmArguments {
  std::string a, b, output;
  std::optional<std::string> c, bias;
  std::optional<double> alpha, beta;
  bool trans_a = false, trans_b = false;
  std::optional<DType> dtype, dtype_b, output_type;
  Compute compute = Compute::environment;
  Bias bias_axis = Bias::per_column;
  Activation activation = Activation::none;
  Sums sums = Sums::any;
  Triangle triangle = Triangle::none;
  Choice choice;
};

/// What is multiplied, and what it is added to.
struct GemmOperands {
  npy::Array a, b;
  std::optional<npy::Array> c0, bias;
};

/// Elements of `dtype`, or as they are.
npy::Array read_array(const std::string& file, std::optional<DType> dtype) {
  if (png::is_png(file)) throw npy::Error(file, "is a PNG image; the matrices of a product are read from .npy files");
  npy::Array array = npy::read(file, dtype);
  if (dtype || npy::is_floating(array.stored)) return array;
  throw npy::Error(file, std::string("has elements of type '") + descr_of(array.stored) + "'; expected " +
                             npy::known_types() +
                             ": convert it, with NumPy np.save(file, array.astype('<f4')); "
                             "'<u2' that are the bits of bfloat16 are read with --dtype bf16");
}

npy::Array require_matrix(npy::Array array) {
  if (array.shape.size() == 2) return array;
  throw npy::Error(array.file, "holds an array of " + npy::axes_text(array.shape.size()) + " (" + array.describe() +
                                   "); expected a matrix, which has 2: say what a vector is, with NumPy "
                                   "array.reshape(-1, 1) for a column or array.reshape(1, -1) for a row");
}

using Extents = std::pair<std::int64_t, std::int64_t>;

/// Rows and columns of op(X).
Extents shape_of(const npy::Array& x, bool transposed) {
  return transposed ? Extents(x.shape[1], x.shape[0]) : Extents(x.shape[0], x.shape[1]);
}

/// A matrix in Fortran order is its transpose in C order, so no file needs to be copied into another order.
Transpose transpose_of(const npy::Array& x, bool transposed) {
  return transposed != x.fortran_order ? Transpose::yes : Transpose::no;
}

/// The type of alpha, beta and sums.
DType scalar_of(DType dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return kDType<Scalar<T>>; });
}

/// ", or f32" where the type of sums is another one.
std::string or_scalar(DType dtype, const char* separator) {
  const DType scalar = scalar_of(dtype);
  return scalar == dtype ? "" : std::string(separator) + name_of(scalar);
}

/// The type of the output, and so of C0.
DType output_type(std::optional<DType> wanted, DType matrices) {
  const DType chosen = wanted.value_or(matrices);
  if (chosen == matrices || chosen == scalar_of(matrices)) return chosen;
  throw std::runtime_error(std::string("--output-type = ") + name_of(chosen) + ": the product of " + name_of(matrices) +
                           " is written as " + name_of(matrices) + or_scalar(matrices, " or ") +
                           "; --dtype says what it is computed in");
}

/// C0 or a bias: the bits of bf16 and integers as A and B are, other numbers of a larger type not by way of it.
npy::Array read_beside(const std::string& file, std::optional<DType> matrices, DType dtype) {
  npy::Array array = read_array(file, matrices);
  if (!matrices || array.dtype == dtype) return array;
  if (npy::is_floating(array.stored) && size_of(array.stored) > size_of(array.dtype)) return npy::read(file, dtype);
  return npy::converted(std::move(array), dtype);
}

/// What C0 and a bias of other files' types are taken as: the wider of what A and B are.
std::optional<DType> type_beside(const GemmArguments& arguments) {
  if (!arguments.dtype || !arguments.dtype_b) return arguments.dtype;
  return wider(*arguments.dtype, *arguments.dtype_b);
}

npy::Array read_c0(const GemmArguments& arguments, const GemmDesc& desc) {
  const DType output = *desc.dtype_d;
  npy::Array c0 = require_matrix(read_beside(*arguments.c, type_beside(arguments), output));
  if (c0.dtype != output)
    throw npy::Error(
        c0.file, "holds " + c0.describe() + "; the product is " + name_of(output) + ", and C0 must have the same type");
  const Extents shape(desc.m, desc.n);
  if (shape_of(c0, false) != shape)
    throw npy::Error(c0.file, "holds " + c0.describe() + "; the product is " + std::to_string(shape.first) + " x " +
                                  std::to_string(shape.second) + ", and C0 must have the same shape");
  return c0;
}

/// As the type of alpha and beta, which holds all that a bias may be.
npy::Array read_bias(const GemmArguments& arguments, const GemmDesc& desc) {
  const DType scalar = scalar_of(*desc.dtype_d);
  npy::Array bias = read_beside(*arguments.bias, type_beside(arguments), scalar);
  if (bias.shape.size() != 1)
    throw npy::Error(bias.file, "holds an array of " + npy::axes_text(bias.shape.size()) + " (" + bias.describe() +
                                    "); expected a bias, a vector, which has 1: NumPy's array.ravel() makes one");
  const DType matrices = wider(desc.dtype, *desc.dtype_b);
  if (bias.dtype != matrices && bias.dtype != *desc.dtype_d && bias.dtype != scalar)
    throw npy::Error(bias.file, "holds a bias of type " + std::string(name_of(bias.dtype)) + "; expected " +
                                    name_of(matrices) + ", as A and B" + or_scalar(matrices, ", or "));
  const bool by_row = arguments.bias_axis == Bias::per_row;
  const std::string axis = by_row ? "row" : "column", other = by_row ? "column" : "row";
  const auto [expected, across] = by_row ? Extents(desc.m, desc.n) : Extents(desc.n, desc.m);
  if (bias.size != expected)
    throw npy::Error(bias.file, "holds a bias of " + std::to_string(bias.size) + " values; --bias-axis " + axis +
                                    " adds one to each " + axis + " of the product, which has " +
                                    std::to_string(expected) +
                                    (bias.size == across ? ": --bias-axis " + other + " fits" : ""));
  return npy::converted(std::move(bias), scalar);
}

/// Checks the types and shapes that A and B have and the command line says.
GemmDesc describe(const GemmArguments& arguments, const npy::Array& a, const npy::Array& b) {
  const std::string a_file = npy::clip(a.file.native(), npy::kShownName);
  if (!can_multiply(a.dtype, b.dtype))
    throw npy::Error(b.file, "holds " + b.describe() + ", but " + a_file + " holds " + a.describe() +
                                 ": the types must be the same, or f32 and one of 16 bits, or f64 and f32");
  const auto [m, k] = shape_of(a, arguments.trans_a);
  const auto [k_of_b, n] = shape_of(b, arguments.trans_b);
  if (k != k_of_b)
    throw npy::Error(b.file, "op(B) has " + std::to_string(k_of_b) + " rows (B is " + b.describe() +
                                 "), but op(A) has " + std::to_string(k) + " columns (A, " + a_file + ", is " +
                                 a.describe() + "); they must agree: --trans-a and --trans-b transpose");
  return {.m = m,
          .n = n,
          .k = k,
          .dtype = a.dtype,
          .trans_a = transpose_of(a, arguments.trans_a),
          .trans_b = transpose_of(b, arguments.trans_b),
          .compute = arguments.compute,
          .dtype_b = b.dtype,
          .dtype_d = output_type(arguments.output_type, wider(a.dtype, b.dtype)),
          .activation = arguments.activation,
          .sums = arguments.sums,
          .triangle = arguments.triangle};
}

/// Reads what is multiplied and added.
GemmDesc read_operands(const GemmArguments& arguments, GemmOperands& operands) {
  operands.a = require_matrix(read_array(arguments.a, arguments.dtype));
  operands.b = require_matrix(read_array(arguments.b, arguments.dtype_b ? arguments.dtype_b : arguments.dtype));
  GemmDesc desc = describe(arguments, operands.a, operands.b);
  if (arguments.c) operands.c0 = read_c0(arguments, desc);
  if (arguments.bias) {
    operands.bias = read_bias(arguments, desc);
    desc.bias = arguments.bias_axis;
    desc.dtype_bias = operands.bias->dtype;
  }
  if (std::filesystem::path(arguments.output).extension() == ".png")
    throw npy::Error(arguments.output, "cannot be written: a product is written as a .npy file, not as a PNG image");
  return desc;
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
  return text + ", computed in " + name_of(wider(operands.a.dtype, operands.b.dtype)) + ", written as " +
         npy::file_name_of(npy::stored_of(output)) + "\n";
}

/// A of type T, B of type U, C0 and the output of type D.
template <Element T, Element U, Element D>
void multiply(const GemmArguments& arguments, const GemmDesc& desc, const GemmOperands& operands,
              npy::OutputFile& output) {
  using S = Scalar<D>;
  const auto scalar = [](const char* name, double value) { return S(fitting(name, value, kDType<S>)); };
  const S alpha = scalar("--alpha", arguments.alpha.value_or(1.0));
  const S beta = scalar("--beta", arguments.beta.value_or(operands.c0 ? 1.0 : 0.0));
  auto plan = arguments.choice.plan<GemmPlan>(desc);
  const T* const a = operands.a.data<T>();
  const U* const b = operands.b.data<U>();
  const std::vector<D> c0 = operands.c0 ? operands.c0->in_c_order<D>() : std::vector<D>();
  std::vector<D> d;
  if (desc.triangle != Triangle::none) d = c0;  // what is not computed stays as it is
  d.resize(std::size_t(desc.m) * std::size_t(desc.n));
  const auto execute = [&](const auto&... bias) {
    if (c0.empty())
      plan.execute(alpha, a, b, S(0), d.data(), bias...);
    else
      plan.execute(alpha, a, b, beta, c0.data(), d.data(), bias...);
  };
  const Timing timing = measure([&] {
    operands.bias ? execute(bias(std::span(operands.bias->data<S>(), std::size_t(operands.bias->size)))) : execute();
  });
  output.write(std::as_bytes(std::span(d)), npy::stored_of(kDType<D>), {desc.m, desc.n});
  const double m = double(desc.m), n = double(desc.n), k = double(desc.k);
  const double bytes =
      m * k * sizeof(T) + k * n * sizeof(U) + m * n * (c0.empty() || beta == S(0) ? 1.0 : 2.0) * sizeof(D);
  const double computed = desc.triangle == Triangle::none ? m * n : m * (n + 1.0) / 2.0;
  finish(output, plan.describe(), timing, 2.0 * computed * k, "GFLOP/s", bytes, said_of(operands, kDType<D>));
}

void run_gemm(const GemmArguments& arguments) {
  GemmOperands operands;
  const GemmDesc desc = read_operands(arguments, operands);
  npy::OutputFile output(arguments.output);
  with_types(desc.dtype, [&]<class T>(std::type_identity<T>) {
    with_types(*desc.dtype_b, [&]<class U>(std::type_identity<U>) {
      using D = std::conditional_t<(sizeof(T) >= sizeof(U)), T, U>;
      if constexpr (can_multiply(kDType<T>, kDType<U>))
        desc.dtype_d == kDType<D> ? multiply<T, U, D>(arguments, desc, operands, output)
                                  : multiply<T, U, Scalar<D>>(arguments, desc, operands, output);
    });
  });
}

void add_types(CLI::App& command, GemmArguments& arguments) {
  add_parsed(command, "--dtype", arguments.dtype, parse_element_type, "TYPE",
             "what A and B are taken as: " + element_names() +
                 " (default: as the files); with bf16 a file of uint16 holds its bits, since NumPy has no such "
                 "type");
  add_parsed(command, "--dtype-b", arguments.dtype_b, parse_element_type, "TYPE",
             "what B is taken as, where that is another type than A's (default: as --dtype says): f32 beside f16 or "
             "bf16, f64 beside f32, either way");
  add_parsed(command, "--output-type", arguments.output_type, parse_element_type, "TYPE",
             "of the product and of C0: the wider of A and B (default), or f32 where that is f16 or bf16; bf16 is "
             "written as uint16");
  add_compute(command, arguments.compute);
  add_product_sums(command, arguments.sums);
  add_triangle(command, arguments.triangle);
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

void add_gemm(CLI::App& app, Run& run) {
  const auto arguments = std::make_shared<GemmArguments>();
  CLI::App& command =
      *app.add_subcommand("gemm", "D <- activation(alpha op(A) op(B) + beta C0 + bias), on matrices in .npy files.");
  add_file(command, "A", arguments->a, "A.npy: m x k, " + npy::known_types() + ", C or Fortran order");
  add_file(command, "B", arguments->b, "B.npy: k x n");
  add_file(command, "-o,--output", arguments->output, "D.npy: written in C order; may be a file that is read");
  CLI::Option* const c = command.add_option("--c", arguments->c, "C0.npy: m x n, added")->type_name("FILE");
  add_parsed(command, "--alpha", arguments->alpha, parse_number, "X", "default: 1");
  add_parsed(command, "--beta", arguments->beta, parse_number, "X", "default: 1")->needs(c);
  command.add_flag("--trans-a", arguments->trans_a, "op(A) is the transpose of the array in A.npy");
  command.add_flag("--trans-b", arguments->trans_b, "op(B) is the transpose of the array in B.npy");
  add_types(command, *arguments);
  add_epilogue(command, *arguments);
  arguments->choice.add_to(command);
  command.footer("Prints the plan, the time, GFLOP/s and GB/s (A, B and D moved once, C0 where it is added). " +
                 std::string(kMeasured));
  command.callback([arguments, &run] { run = [arguments] { run_gemm(*arguments); }; });
}

}  // namespace tessera::cli
