// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil by its definition, point by point.

#include "../backend.hpp"

namespace simple {
namespace {

using plugin::Index3;
using plugin::StencilProblem;

template <class T>
class PointsPlan final : public plugin::Plan {
 public:
  explicit PointsPlan(const StencilProblem& problem) : p_(problem) {}

  /// The array between two steps.
  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }

  void execute(const plugin::Execution& execution) override {
    plugin::for_each_sweep(p_, execution.operand<const T>(0), execution.operand<T>(1), execution.workspace<T>(),
                           [this](const T* in, const Index3& from, T* out, const Index3& to) {
                             const auto& n = p_.domain.extents;
                             for (std::int64_t i = 0; i < n[0]; ++i)
                               for (std::int64_t j = 0; j < n[1]; ++j)
                                 for (std::int64_t l = 0; l < n[2]; ++l)
                                   out[i * to[0] + j * to[1] + l * to[2]] = point(in, from, i, j, l);
                           });
  }

 private:
  T point(const T* in, const Index3& strides, std::int64_t i, std::int64_t j, std::int64_t l) const {
    const auto at = [&](const auto& index) {
      return in[index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2]];
    };
    if (p_.domain.frozen(i, j, l)) return at(Index3{i, j, l});  // keeps its value
    T sum = 0;
    for (const auto& [offset, coefficient] : p_.taps) {
      const plugin::Sample s = p_.domain.sample(i + offset[0], j + offset[1], l + offset[2]);
      sum += T(coefficient) * (s.constant ? T(s.value) : at(s.index));
    }
    return sum;
  }

  StencilProblem p_;
};

void offers(const StencilProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
            plugin::OfferList& list) {
  const double products = double(p.steps) * double(p.points()) * double(p.taps.size());
  list.add({{}, products / machine.multiply_adds, p.sweep_workspace()});
}

std::unique_ptr<plugin::Plan> make(Context&, const StencilProblem& problem, const plugin::Parameters&) {
  const auto plan = [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<PointsPlan<T>>(problem);
  };
  return plugin::with_types<plugin::WideTypes>(problem.dtype, plan);
}

const plugin::Register<Context, StencilProblem> kRegistered{
    {"points", plugin::supports_all<StencilProblem, Machine>, offers, make, {.ordered = true}}, 0};

}  // namespace
}  // namespace simple
