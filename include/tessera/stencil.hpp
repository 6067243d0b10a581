// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// StencilPlan: out[p] = sum over taps of coefficient * in[p + offset], repeated.
#pragma once

#include <tessera/boundary.hpp>
#include <tessera/integer.hpp>
#include <tessera/plan.hpp>
#include <tessera/taps.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace tessera {

/// One side of one axis: a mode, and the value where the mode is constant.
struct BoundarySide {
  Boundary mode = Boundary::fixed;
  double value = 0.0;
  constexpr BoundarySide() = default;
  constexpr BoundarySide(Boundary m, double v = 0.0) : mode(m), value(v) {}
};

/// Both sides of one axis: {low, high}, or one for both.
struct BoundaryAxis {
  BoundarySide low, high;
  constexpr BoundaryAxis() = default;
  constexpr BoundaryAxis(Boundary both) : low(both), high(both) {}
  constexpr BoundaryAxis(BoundarySide both) : low(both), high(both) {}
  constexpr BoundaryAxis(BoundarySide l, BoundarySide h) : low(l), high(h) {}
};

/// The boundary of a domain: one mode for all axes, or one entry per axis.
///     .boundary = Boundary::periodic
///     .boundary = BoundarySide(Boundary::constant, 20.0)
///     .boundary = {Boundary::periodic, BoundaryAxis(Boundary::fixed, Boundary::nearest)}
class Boundaries {
 public:
  Boundaries() = default;
  Boundaries(Boundary all) : axes_{BoundaryAxis(all)} {}
  Boundaries(BoundarySide all) : axes_{BoundaryAxis(all)} {}
  Boundaries(BoundaryAxis all) : axes_{all} {}
  Boundaries(std::initializer_list<BoundaryAxis> per_axis) : axes_(per_axis) {}
  explicit Boundaries(std::vector<BoundaryAxis> per_axis) : axes_(std::move(per_axis)) {}

  /// Number of entries: 1 speaks for every axis.
  std::size_t size() const { return axes_.size(); }
  const BoundaryAxis& operator[](std::size_t axis) const { return axes_[axes_.size() == 1 ? 0 : axis]; }

 private:
  std::vector<BoundaryAxis> axes_{BoundaryAxis{}};
};

/// A domain of 1, 2 or 3 axes, slowest first, and what is done to it. Numbers may come in any integral type.
struct StencilDesc {
  Integers extents;                       ///< points along each axis, 0 and more; must be given
  Taps taps;                              ///< offsets and coefficients; of as many axes, must be given
  Boundaries boundary = Boundary::fixed;  ///< what taps read outside the domain: one entry for all axes, or one an axis
  /// Applications u <- S(u) per execution. 0 copies the values: a zero may lose its sign, a NaN may have other bits.
  Integer steps = 1;
  DType dtype = DType::f32;  ///< type of the elements of `in` and `out`
  /// Elements from one point of `in` to the next along each axis; empty: packed. See tessera_stencil_desc for halos.
  Integers in_strides = {};
  Integers out_strides = {};          ///< the same of `out`
  Compute compute = Compute::strict;  ///< arithmetic that is accepted: stencils have strict alone
  Sums sums = Sums::any;              ///< in which order the taps are added
};

namespace detail {
struct OneCall;
}

/// A stencil, validated once and executed many times, by one thread at a time.
/// `in` is only read and shares no element with `out`; elements of `out` between its points are left alone. Pointers
/// address the domain's first point. A plan of several steps holds one array of the domain's size beside them, or,
/// where a GPU keeps a small domain on the chip, up to 64 MiB.
/// Error of one step, point by point: (taps + 2) u sum |c| |x|, u the unit roundoff of the type.
class StencilPlan : public Plan {
 public:
  /// The backend is the environment's choice, else the best for this descriptor with host operands.
  explicit StencilPlan(const StencilDesc& desc, const PlanOptions& options = {})
      : StencilPlan(tessera_plan_create, nullptr, desc, desc.dtype, options) {}
  StencilPlan(const Context& context, const StencilDesc& desc, const PlanOptions& options = {})
      : StencilPlan(tessera_plan_create, &context, desc, desc.dtype, options) {}

  /// The same from the plan cache, to which the destructor gives it back: see tessera_plan_borrow.
  static StencilPlan borrow(const StencilDesc& desc, const PlanOptions& options = {}) {
    return StencilPlan(tessera_plan_borrow, nullptr, desc, desc.dtype, options);
  }
  static StencilPlan borrow(const Context& context, const StencilDesc& desc, const PlanOptions& options = {}) {
    return StencilPlan(tessera_plan_borrow, &context, desc, desc.dtype, options);
  }

  /// Every way in which the context's backend would run the problem, the one that a plan takes first.
  static std::vector<Offer> offers(const Context& context, const StencilDesc& desc, const PlanOptions& options = {}) {
    return Plan::offers(context, Translated(desc, desc.dtype).get(), options);
  }

  /// Measures as a plan of Effort::measure would, whatever wisdom says and with more patience: 0.4 s for a problem that
  /// takes below 1 ms, for others 10 s or 24 executions, whichever is more. What it finds is the process's wisdom then,
  /// for plans that are made from now on; those of the plan cache stay. wisdom::save() keeps it.
  /// Returns what was tried. Throws invalid_argument where nothing is left to choose, as of an algorithm with
  /// parameters or for an empty output; out_of_memory where there is none for the operands.
  static std::vector<Tried> tune(const Context& context, const StencilDesc& desc, const PlanOptions& options = {}) {
    return Plan::tune(&context, Translated(desc, desc.dtype).get(), options);
  }
  /// The same, among backends, too.
  static std::vector<Tried> tune(const StencilDesc& desc, const PlanOptions& options = {}) {
    return Plan::tune(nullptr, Translated(desc, desc.dtype).get(), options);
  }

  /// Another plan of the same problem, context, algorithm and parameters, with a workspace of its own: for another
  /// thread. May be called while this plan is executed.
  StencilPlan clone() const { return StencilPlan(CloneOf{*this}); }

  /// Each operand is a pointer, a contiguous range on the host (vector, array, span), or a Buffer, for plans with
  /// PlanOptions::operands = Memory::device; the sizes of ranges and buffers are checked. Host operands: complete on
  /// return. Device operands: queued on the context's stream.
  template <detail::Operand In, detail::Operand Out>
  void execute(const In& in, Out&& out) {
    static_assert(detail::kWritable<Out>, "out must not be const");
    const tessera_operand operands[] = {operand(Role::in, in), operand(Role::out, out)};
    run(operands, 2, nullptr, 0);
  }

 private:
  explicit StencilPlan(CloneOf of) : Plan(of) {}
  StencilPlan(Source source, const Context* context, const StencilDesc& desc, DType dtype, const PlanOptions& options)
      : Plan(source, context, Translated(desc, dtype).get(), options) {}
  friend struct detail::OneCall;
  friend class DistributedStencilPlan;

  struct Translated {
    tessera_stencil_desc c{};
    Translated(const StencilDesc& d, DType dtype) {
      static_assert(sizeof(Tap) == sizeof(tessera_tap) &&
                    offsetof(Tap, coefficient) == offsetof(tessera_tap, coefficient));
      const std::size_t rank = d.extents.size();
      if (rank < 1 || rank > TESSERA_MAX_RANK)
        refuse(extents_have(rank) + ": must have 1, 2 or 3" +
               (rank == 0 ? "; a descriptor begins with 0, so it was not set" : ""));
      if (std::size_t(d.taps.rank()) != rank)
        refuse("taps have rank " + std::to_string(d.taps.rank()) + ", " + extents_have(rank) + ": they must agree" +
               (d.taps.rank() == 0 ? "; a default Taps has rank 0, so taps was not set" : ""));
      check_axes("boundary", d.boundary.size() == 1 ? rank : d.boundary.size(), rank,
                 "; the two sides of one axis are BoundaryAxis(low, high)");
      check_axes("in_strides", d.in_strides.empty() ? rank : d.in_strides.size(), rank);
      check_axes("out_strides", d.out_strides.empty() ? rank : d.out_strides.size(), rank);
      c.struct_size = sizeof c;
      c.op = TESSERA_OP_STENCIL;
      c.dtype = tessera_dtype(dtype);
      c.compute = tessera_compute(d.compute);
      c.rank = int(rank);
      for (std::size_t axis = 0; axis < rank; ++axis) {
        c.extents[axis] = d.extents[axis];
        c.in_strides[axis] = d.in_strides.empty() ? kPacked : d.in_strides[axis];
        c.out_strides[axis] = d.out_strides.empty() ? kPacked : d.out_strides[axis];
        const BoundarySide sides[2] = {d.boundary[axis].low, d.boundary[axis].high};
        for (int side = 0; side < 2; ++side) {
          c.boundary[axis][side] = tessera_boundary(sides[side].mode);
          c.boundary_value[axis][side] = sides[side].value;
        }
      }
      c.taps = reinterpret_cast<const tessera_tap*>(d.taps.data());
      c.tap_size = sizeof(Tap);
      c.tap_count = std::int64_t(d.taps.size());
      c.steps = d.steps;
      c.sums = tessera_sums(d.sums);
    }
    static std::string extents_have(std::size_t rank) {
      return "extents has " + std::to_string(rank) + (rank == 1 ? " axis" : " axes");
    }
    static void check_axes(const char* name, std::size_t given, std::size_t rank, const char* advice = "") {
      if (given != rank)
        refuse(std::string(name) + " has " + std::to_string(given) + (given == 1 ? " entry; " : " entries; ") +
               extents_have(rank) + ": give one entry per axis" + advice);
    }
    [[noreturn]] static void refuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }
    const void* get() const { return &c; }
  };
};

namespace detail {

/// A stencil in one call, without a copy of the descriptor for its element type.
struct OneCall {
  template <Element T, class In, class Out>
  static void stencil(const Context* context, const StencilDesc& desc, const In& in, Out&& out,
                      const PlanOptions& options) {
    require_type("in", kDType<element_of<In>>, "out", kDType<T>);
    StencilPlan(tessera_plan_borrow, context, desc, kDType<T>, options_for<Out>(options)).execute(in, out);
  }
};

}  // namespace detail

/// A stencil in one call, on what StencilPlan::execute takes: ranges, pointers, buffers. Pointers are taken for host
/// memory: device pointers need {.operands = Memory::device}. The element type is that of `out`, whatever the
/// descriptor says. The plan comes from the plan cache, so that the same stencil costs little more the next time than
/// with a plan that the program keeps; tessera_plan_borrow tells more.
template <class In, class Out, Element T = detail::element_of<Out>>
void stencil(const StencilDesc& desc, const In& in, Out&& out, const PlanOptions& options = {}) {
  detail::OneCall::stencil<T>(nullptr, desc, in, out, options);
}
/// The same on the device of a context. Buffers, and pointers with {.operands = Memory::device}: queued on its stream.
template <class In, class Out, Element T = detail::element_of<Out>>
void stencil(const Context& context, const StencilDesc& desc, const In& in, Out&& out,
             const PlanOptions& options = {}) {
  detail::OneCall::stencil<T>(&context, desc, in, out, options);
}

}  // namespace tessera
