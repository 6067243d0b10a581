// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "activation_gradient.hpp"

#include "arguments.hpp"
#include "hints.hpp"
#include "module.hpp"
#include "overlap.hpp"
#include "values.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace tessera::python {
namespace {

/// gradient * activation'(aux): a product of no terms. And the sums of its columns, where a bias's gradient is wanted.
class ActivationGradient {
 public:
  ActivationGradient(nb::handle gradient, nb::handle aux, nb::handle out, nb::handle bias_gradient, nb::handle stream)
      : stream_(stream), gradient_(array_of(gradient, "gradient", stream)), aux_(array_of(aux, "aux", stream)) {
    require_same(aux_, "aux");
    result_ =
        out.is_none() ? empty_like(gradient_, gradient_.extents(), gradient_.dtype) : output_of(out, "out", stream);
    require_same(result_, "out");
    require_c_order(result_, "out");
    if (!gradient_.in_c_order()) gradient_ = contiguous(gradient_, "gradient");
    if (!aux_.in_c_order()) aux_ = contiguous(aux_, "aux");
    keep_apart(result_, aux_, "aux", stream_);
    if (result_.data != gradient_.data) keep_apart(result_, gradient_, "gradient", stream_);
    n_ = gradient_.rank == 0 ? 1 : gradient_.shape[std::size_t(gradient_.rank - 1)];
    if (!bias_gradient.is_none()) take_bias(bias_gradient);
  }

  nb::object run(nb::handle activation, nb::handle backend) {
    const auto function = tessera_activation(activation_named(activation));
    if (function == TESSERA_ACTIVATION_NONE) refuse_value("activation", activation, "the name of one");
    const Place place = place_of(gradient_, backend, stream_);
    const tessera_operand gradient{gradient_.data, tessera_dtype(gradient_.dtype), TESSERA_ROLE_C};
    std::optional<tessera_operand> sums;
    if (bias_) sums = {bias_->data, tessera_dtype(bias_->dtype), TESSERA_ROLE_BIAS};
    const std::int64_t rows = n_ == 0 ? 0 : gradient_.size() / n_;
    unlocked([&] { run_activation_gradient(place, function, rows, n_, gradient, aux_.data, result_.data, sums); });
    return finished(result_, gradient_, place);
  }

 private:
  void require_same(const Array& x, const char* name) const {
    require_same_memory(gradient_, "gradient", x, name);
    if (!std::ranges::equal(x.extents(), gradient_.extents()))
      throw nb::value_error((std::string(name) + " has shape " + text_of(x.extents()) + "; must have the gradient's, " +
                             text_of(gradient_.extents()))
                                .c_str());
    if (x.dtype != gradient_.dtype)
      throw nb::type_error((std::string(name) + " is of " + dtype_name(x.dtype) + "; must be of the gradient's type, " +
                            dtype_name(gradient_.dtype))
                               .c_str());
  }
  static void require_c_order(const Array& x, const char* name) {
    if (!x.in_c_order())
      throw nb::value_error((std::string(name) + " has gaps between its elements; must be in C order").c_str());
  }

  void take_bias(nb::handle given) {
    bias_ = output_of(given, "bias_gradient", stream_);
    require_same_memory(gradient_, "gradient", *bias_, "bias_gradient");
    if (bias_->rank != 1 || bias_->shape[0] != n_)
      throw nb::value_error(("bias_gradient has shape " + text_of(bias_->extents()) + "; must be (" +
                             std::to_string(n_) + ",), a value for each column")
                                .c_str());
    const DType sums = DType(scalar_dtype(gradient_.dtype));
    if (bias_->dtype != gradient_.dtype && bias_->dtype != sums)
      throw nb::type_error((std::string("bias_gradient is of ") + dtype_name(bias_->dtype) +
                            "; must be of the gradient's type, " + dtype_name(gradient_.dtype) + ", or of " +
                            dtype_name(sums))
                               .c_str());
    require_c_order(*bias_, "bias_gradient");
    require_apart(*bias_, "bias_gradient", result_, "out");
    keep_apart(*bias_, gradient_, "gradient", stream_);
    keep_apart(*bias_, aux_, "aux", stream_);
  }

  nb::handle stream_;
  Array gradient_, aux_, result_;
  std::optional<Array> bias_;
  std::int64_t n_ = 0;
};

Result activation_gradient(Any gradient, Any aux, Text activation, Any out, Any bias_gradient, Text backend,
                           Stream stream) {
  return ActivationGradient(gradient, aux, out, bias_gradient, stream).run(activation, backend);
}

constexpr const char* kActivationGradient = R"(gradient * f'(aux), f an activation: the gradient before a layer's
activation from that behind it.

gradient, aux: arrays of one shape, type and memory. aux: what the activation was applied to, as matmul(aux=) stores it.
activation: relu, gelu, gelu_tanh, silu, sigmoid or tanh. The derivative of relu is 0 at 0.
out: where the result goes, in C order; may be the gradient. None: a new array.
bias_gradient: an array of n values, one for each entry of the last axis: gets the sums of the result, which are the
gradient of a bias that was added to each row; of the result's type or float32. None: there are none.
backend, stream: as in matmul.

Raises ValueError, TypeError, MemoryError, or RuntimeError where no backend can do it.)";

}  // namespace

void run_product(const Place& place, const tessera_gemm_desc& desc, const tessera_operand* operands,
                 std::uint64_t count, double alpha, double beta) {
  PlanOptions options;
  options.operands = place.memory;
  BorrowedPlan plan(place, &desc, options);
  const tessera_dtype scalar = scalar_dtype(DType(desc.dtype_d));
  const tessera_scalar scalars[] = {{scalar, 0, alpha, 0.0}, {scalar, 0, beta, 0.0}};
  plan.execute(operands, count, scalars, 2);
}

void run_activation_gradient(const Place& place, tessera_activation activation, std::int64_t rows, std::int64_t n,
                             const tessera_operand& gradient, void* aux, void* made,
                             const std::optional<tessera_operand>& sums) {
  const tessera_dtype type = gradient.dtype;
  tessera_gemm_desc desc = tessera_packed_gemm(type, rows, n, 0);
  desc.dtype_d = type, desc.activation = activation, desc.aux = TESSERA_AUX_DERIVATIVE;
  tessera_operand operands[6] = {{nullptr, type, TESSERA_ROLE_A},
                                 {nullptr, type, TESSERA_ROLE_B},
                                 {gradient.data, type, TESSERA_ROLE_C},
                                 {aux, type, TESSERA_ROLE_AUX}};
  std::uint64_t count = 4;
  if (made != gradient.data) operands[count++] = {made, type, TESSERA_ROLE_D};
  if (sums) {
    desc.bias = TESSERA_BIAS_GRADIENT_PER_COLUMN, desc.dtype_bias = sums->dtype;
    operands[count++] = *sums;
  }
  run_product(place, desc, operands, count, 0.0, 1.0);
}

void define_activation_gradient(nb::module_& module) {
  using namespace nb::literals;
  module.def("activation_gradient", activation_gradient, "gradient"_a.none(), "aux"_a.none(), "activation"_a.none(),
             nb::kw_only(), "out"_a = nb::none(), "bias_gradient"_a = nb::none(), "backend"_a = nb::none(),
             "stream"_a = nb::none(), kActivationGradient);
}

}  // namespace tessera::python
