// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils on files, but for the steps themselves: what a command line says, what is read and written.
#pragma once

#include "commands.hpp"
#include "fields.hpp"
#include "measure.hpp"
#include "npy.hpp"
#include "stencil_options.hpp"

#include <tessera/stencil.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::cli {

struct StencilArguments : StencilOptions {
  std::string input, output;
  std::optional<std::string> dtype, output_type;
  bool rescale = false;
};

/// What the command line alone determines.
struct ParsedStencilArguments : ParsedStencil {
  std::optional<DType> dtype;
  std::optional<npy::Stored> output_type;
};

/// The subcommand `stencil` with these arguments.
CLI::App* add_stencil_command(CLI::App& app, StencilArguments& arguments);
/// Mistakes are CLI11's errors.
ParsedStencilArguments parse(const StencilArguments& arguments);

/// A stencil whose input was read and whose output can be written. The constructor throws what reading a file throws,
/// and tessera::Error.
class StencilJob {
 public:
  StencilJob(const StencilArguments& arguments, const ParsedStencilArguments& parsed);

  const StencilDesc& desc() const { return desc_; }
  const Fields& input() const { return input_; }
  /// Room for the results, one field behind the other in C order; what is not computed has its values.
  template <Element T>
  std::vector<T> results() const;
  /// Writes the results and prints what was done.
  template <Element T>
  void finish(const std::vector<T>& results, const std::string& plan, const Timing& timing);

 private:
  Fields input_;
  StencilDesc desc_;
  Target target_;
  npy::OutputFile output_;
};

}  // namespace tessera::cli
