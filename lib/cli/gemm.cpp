// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"
#include "measure.hpp"
#include "npy.hpp"
#include "numbers.hpp"
#include "png_image.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace tessera::cli {
namespace {

struct Arguments {
  std::string a, b, output;
  std::optional<std::string> c;
  std::optional<double> alpha, beta;
  bool trans_a = false, trans_b = false;
  Choice choice;
};

npy::Array read_matrix(const std::string& file) {
  if (png::is_png(file)) throw npy::Error(file, "is a PNG image; the matrices of a product are read from .npy files");
  npy::Array matrix = npy::read(file);
  if (matrix.shape.size() != 2)
    throw npy::Error(file, "holds an array of " + npy::axes_text(matrix.shape.size()) + " (" + matrix.describe() +
                               "); expected a matrix, which has 2: say what a vector is, with NumPy "
                               "array.reshape(-1, 1) for a column or array.reshape(1, -1) for a row");
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

template <Element T>
void multiply(const Arguments& arguments, const npy::Array& a, const npy::Array& b, const npy::Array* c0,
              const GemmDesc& desc, npy::OutputFile& output) {
  const T alpha = T(fitting("--alpha", arguments.alpha.value_or(1.0), desc.dtype));
  const T beta = T(fitting("--beta", arguments.beta.value_or(c0 == nullptr ? 0.0 : 1.0), desc.dtype));
  auto plan = arguments.choice.plan<GemmPlan>(desc);
  const std::vector<T> initial = c0 == nullptr ? std::vector<T>() : in_c_order<T>(*c0);
  std::vector<T> c(std::size_t(desc.m) * std::size_t(desc.n));
  const Timing timing = measure([&] { std::copy(initial.begin(), initial.end(), c.begin()); },
                                [&] { plan.execute(alpha, a.data<T>(), b.data<T>(), beta, c.data()); });
  output.write(std::span<const T>(c), {desc.m, desc.n});

  const double m = double(desc.m), n = double(desc.n), k = double(desc.k);
  const double elements = m * k + k * n + m * n * (beta == T(0) ? 1.0 : 2.0);
  report(report_stream(output), plan, timing, 2.0 * m * n * k, "GFLOP/s", elements * sizeof(T));
  output.commit();
}

void run_gemm(const Arguments& arguments) {
  const npy::Array a = read_matrix(arguments.a);
  const npy::Array b = read_matrix(arguments.b);
  require_type(b, a);
  const auto [m, k] = shape_of(a, arguments.trans_a);
  const auto [k_of_b, n] = shape_of(b, arguments.trans_b);
  if (k != k_of_b)
    throw npy::Error(b.file, "op(B) has " + std::to_string(k_of_b) + " rows (B is " + b.describe() +
                                 "), but op(A) has " + std::to_string(k) + " columns (A, " +
                                 npy::clip(a.file.native(), npy::kShownName) + ", is " + a.describe() +
                                 "); they must agree: --trans-a and --trans-b transpose");
  std::optional<npy::Array> c0;
  if (arguments.c) {
    c0 = read_matrix(*arguments.c);
    require_type(*c0, a);
    if (shape_of(*c0, false) != std::pair(m, n))
      throw npy::Error(c0->file, "holds " + c0->describe() + "; the product is " + std::to_string(m) + " x " +
                                     std::to_string(n) + ", and C0 must have the same shape");
  }
  if (std::filesystem::path(arguments.output).extension() == ".png")
    throw npy::Error(arguments.output, "cannot be written: a product is written as a .npy file, not as a PNG image");
  npy::OutputFile output(arguments.output);
  const GemmDesc desc{.m = m,
                      .n = n,
                      .k = k,
                      .dtype = a.dtype,
                      .trans_a = transpose_of(a, arguments.trans_a),
                      .trans_b = transpose_of(b, arguments.trans_b)};
  with_types<WideTypes>(a.dtype, [&]<class T>(std::type_identity<T>) {
    multiply<T>(arguments, a, b, c0 ? &*c0 : nullptr, desc, output);
  });
}

}  // namespace

void add_gemm(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("gemm", "C <- alpha op(A) op(B) + beta C0, on matrices in .npy files.");
  const auto arguments = std::make_shared<Arguments>();
  command->add_option("A", arguments->a, "A.npy: m x k, " + npy::known_types() + ", C or Fortran order")
      ->required()
      ->type_name("FILE");
  command->add_option("B", arguments->b, "B.npy: k x n")->required()->type_name("FILE");
  command->add_option("-o,--output", arguments->output, "C.npy: written in C order; may be a file that is read")
      ->required()
      ->type_name("FILE");
  CLI::Option* c = command->add_option("--c", arguments->c, "C0.npy: m x n, added")->type_name("FILE");
  add_number(*command, "--alpha", arguments->alpha, "default: 1");
  add_number(*command, "--beta", arguments->beta, "default: 1")->needs(c);
  command->add_flag("--trans-a", arguments->trans_a, "op(A) is the transpose of the array in A.npy");
  command->add_flag("--trans-b", arguments->trans_b, "op(B) is the transpose of the array in B.npy");
  arguments->choice.add_to(*command);
  command->footer("Prints the plan, the time, GFLOP/s and GB/s (A, B and C moved once; C twice with beta). " +
                  std::string(kMeasured));
  command->callback([arguments, &run] { run = [arguments] { run_gemm(*arguments); }; });
}

}  // namespace tessera::cli
