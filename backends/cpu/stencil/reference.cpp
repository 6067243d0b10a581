// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil by its definition, point by point on one thread: what every other algorithm must agree
/// with.

#include "../context.hpp"
#include "model.hpp"

namespace tessera::cpu {
namespace {

using plugin::Index3;
using plugin::Sample;
using plugin::StencilProblem;

template <class T>
class ReferencePlan final : public plugin::Plan {
 public:
  explicit ReferencePlan(const StencilProblem& problem) : problem_(problem) {}

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    plugin::for_each_sweep(problem_, execution.operand<const T>(0), execution.operand<T>(1), execution.workspace<T>(),
                           [this](const T* in, const Index3& in_strides, T* out, const Index3& out_strides) {
                             sweep(in, in_strides, out, out_strides);
                           });
  }

 private:
  void sweep(const T* in, const Index3& in_strides, T* out, const Index3& out_strides) const {
    const auto& extents = problem_.domain.extents;
    for (std::int64_t i = 0; i < extents[0]; ++i)
      for (std::int64_t j = 0; j < extents[1]; ++j)
        for (std::int64_t l = 0; l < extents[2]; ++l)
          out[i * out_strides[0] + j * out_strides[1] + l * out_strides[2]] = point(in, in_strides, i, j, l);
  }

  T point(const T* in, const Index3& strides, std::int64_t i, std::int64_t j, std::int64_t l) const {
    if (problem_.domain.frozen(i, j, l)) return in[i * strides[0] + j * strides[1] + l * strides[2]];
    using S = Scalar<T>;
    S sum = 0;
    for (const auto& [offset, coefficient] : problem_.taps) {
      const Sample s = problem_.domain.sample(i + offset[0], j + offset[1], l + offset[2]);
      const std::int64_t from = s.index[0] * strides[0] + s.index[1] * strides[1] + s.index[2] * strides[2];
      sum += S(coefficient) * (s.constant ? S(s.value) : S(in[from]));
    }
    return T(sum);
  }

  StencilProblem problem_;
};

void offer(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, reference_seconds(machine, p), p.sweep_workspace()});
}

std::unique_ptr<plugin::Plan> make(Context&, const StencilProblem& p, const plugin::Parameters&) {
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<ReferencePlan<T>>(p);
  });
}

const plugin::Register<Context, StencilProblem> kRegistered{
    {"reference", plugin::supports_all<StencilProblem, Machine>, offer, make, {.narrow = true}}, 9};

}  // namespace
}  // namespace tessera::cpu
