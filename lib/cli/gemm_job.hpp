// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products of matrices in files, but for the product itself: what a command line says, what is read and written.
#pragma once

#include "commands.hpp"
#include "measure.hpp"
#include "npy.hpp"

#include <tessera/gemm.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::cli {

struct GemmArguments {
  std::string a, b, output;
  std::optional<std::string> c, bias;
  std::optional<double> alpha, beta;
  bool trans_a = false, trans_b = false;
  std::optional<std::string> dtype, output_type;
  Compute compute = Compute::environment;
  Bias bias_axis = Bias::per_column;
  Activation activation = Activation::none;
};

/// What the command line alone determines.
struct ParsedGemmArguments {
  std::optional<DType> matrices, output;
};

/// The subcommand `gemm` with these arguments.
CLI::App* add_gemm_command(CLI::App& app, GemmArguments& arguments);
/// Mistakes are CLI11's errors.
ParsedGemmArguments parse(const GemmArguments& arguments);

/// What is multiplied, and what it is added to.
struct GemmOperands {
  npy::Array a, b;
  std::optional<npy::Array> c0, bias;
};

/// A product whose matrices were read and whose output can be written. The constructor throws npy::Error and
/// std::runtime_error.
class GemmJob {
 public:
  GemmJob(const GemmArguments& arguments, const ParsedGemmArguments& parsed);

  /// `dtype_d` has a value.
  const GemmDesc& desc() const { return desc_; }
  const GemmOperands& operands() const { return operands_; }
  /// Rounded to the type of scalars; beta is 0 where there is no C0.
  double alpha() const { return alpha_; }
  double beta() const { return beta_; }
  /// C0 in C order; empty where there is none.
  template <Element D>
  std::vector<D> c0() const;
  /// Writes D and prints what was done.
  template <Element D>
  void finish(const std::vector<D>& d, const std::string& plan, const Timing& timing);

 private:
  GemmOperands operands_;
  GemmDesc desc_;
  npy::OutputFile output_;
  double alpha_, beta_;
};

}  // namespace tessera::cli
