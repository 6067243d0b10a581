// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil point by point: an MDRangePolicy over the points whose taps stay inside, without a test, and one over
/// each slab of the boundary.

#include "../range.hpp"
#include "sweep.hpp"

namespace tessera::kokkos {
namespace {

using plugin::Index3;

template <class T>
struct InnerPoint {
  Sweep<T> sweep;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i2, std::int64_t i1, std::int64_t i0) const {
    *sweep.target_at(i0, i1, i2) = sweep.inner_value(i0, i1, i2);
  }
};

template <class T>
struct BoundaryPoint {
  Sweep<T> sweep;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i2, std::int64_t i1, std::int64_t i0) const {
    *sweep.target_at(i0, i1, i2) = sweep.boundary_value(i0, i1, i2);
  }
};

template <class T>
class MdrangePlan final : public plugin::Plan {
 public:
  MdrangePlan(Context& context, const plugin::StencilProblem& problem)
      : context_(context),
        problem_(problem),
        taps_(make_point_taps<Scalar<T>>(context, problem)),
        inner_(inner_box(problem.domain)),
        boundary_(boundary_boxes(problem.domain)) {}

  std::uint64_t workspace_bytes() const override { return problem_.sweep_workspace(); }

  void execute(const plugin::Execution& e) override {
    Sweep<T> sweep(problem_, taps_.template as<const PointTap<Scalar<T>>>());
    plugin::for_each_sweep(problem_, e.operand<const T>(0), e.operand<T>(1), e.workspace<T>(),
                           [&](const T* source, const Index3& from, T* target, const Index3& to) {
                             sweep.set_arrays(source, from, target, to);
                             context_.dispatch([&](const Launcher& launch) { run(launch, sweep); });
                           });
  }

 private:
  void run(const Launcher& launch, const Sweep<T>& sweep) const {
    const auto over = [&](const Box& box) {
      return range(launch.space(), {box.begin[2], box.begin[1], box.begin[0]}, {box.end[2], box.end[1], box.end[0]});
    };
    if (!inner_.empty()) launch(over(inner_), InnerPoint<T>{sweep});
    for (const Box& box : boundary_) launch(over(box), BoundaryPoint<T>{sweep});
  }

  Context& context_;
  plugin::StencilProblem problem_;
  Table taps_;
  Box inner_;
  std::vector<Box> boundary_;
};

void offer(const plugin::StencilProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, stencil_seconds(machine, p, machine.costs.stencil_mdrange), p.sweep_workspace()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::StencilProblem& p, const plugin::Parameters&) {
  context.require_no_fault();
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<MdrangePlan<T>>(context, p);
  });
}

const plugin::Register<Context, plugin::StencilProblem> kRegistered{
    {"mdrange", plugin::supports_all<plugin::StencilProblem, Machine>, offer, make, {.narrow = true}}, 2};

}  // namespace
}  // namespace tessera::kokkos
