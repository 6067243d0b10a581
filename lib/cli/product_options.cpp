// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "product_options.hpp"

#include "clip.hpp"

#include <utility>
#include <vector>

namespace tessera::cli {
namespace {

/// An option that takes one of some names.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const std::vector<std::pair<const char*, Value>>& known, const std::string& description) {
  std::string names;
  for (const auto& [text, unused] : known) names += (names.empty() ? "" : "|") + std::string(text);
  const auto read = [&value, name, known, names](const std::string& text) {
    for (const auto& [known_text, known_value] : known)
      if (text == known_text) return void(value = known_value);
    throw CLI::ValidationError(name + ": '" + npy::clip(text) + "' is unknown; there are " + names);
  };
  return command.add_option_function<std::string>(name, read, description)->type_name(names);
}

}  // namespace

CLI::Option* add_compute(CLI::App& command, Compute& value) {
  return add_choice<Compute>(
      command, "--compute", value,
      {{"default", Compute::environment},
       {"strict", Compute::strict},
       {"bf16x6", Compute::bf16x6},
       {"f16x3", Compute::f16x3},
       {"tf32", Compute::tf32}},
      "the least exact arithmetic that is accepted: strict (default, unless TESSERA_GEMM_COMPUTE says "
      "else) rounds to the type or better; the others are for f32");
}

CLI::Option* add_activation(CLI::App& command, Activation& value) {
  return add_choice<Activation>(command, "--activation", value,
                                {{"none", Activation::none},
                                 {"relu", Activation::relu},
                                 {"gelu", Activation::gelu},
                                 {"gelu_tanh", Activation::gelu_tanh},
                                 {"silu", Activation::silu},
                                 {"sigmoid", Activation::sigmoid},
                                 {"tanh", Activation::tanh}},
                                "applied to each element at last (default: none); gelu is by erf");
}

CLI::Option* add_bias(CLI::App& command, const std::string& name, Bias& value, const std::string& description) {
  return add_choice<Bias>(command, name, value, {{"row", Bias::per_row}, {"column", Bias::per_column}}, description);
}

}  // namespace tessera::cli
