// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "product_options.hpp"

#include "named_value.hpp"

namespace tessera::cli {

CLI::Option* add_compute(CLI::App& command, Compute& value) {
  return add_named_value<Compute>(
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
  return add_named_value<Activation>(command, "--activation", value,
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
  return add_named_value<Bias>(command, name, value, {{"row", Bias::per_row}, {"column", Bias::per_column}},
                               description);
}

}  // namespace tessera::cli
