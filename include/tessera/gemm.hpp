// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GemmPlan: C <- alpha * op(A) * op(B) + beta * C.
#pragma once

#include <tessera/integer.hpp>
#include <tessera/plan.hpp>

#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace tessera {

/// How matrices are stored: rows or columns without gaps between their elements.
enum class Order : std::int32_t { row_major = TESSERA_ROW_MAJOR, column_major = TESSERA_COLUMN_MAJOR };
/// Whether op(X) is X or its transpose.
enum class Transpose : std::int32_t { no = TESSERA_NO_TRANSPOSE, yes = TESSERA_TRANSPOSE };

/// op(A) is m x k, op(B) is k x n, C is m x n; all sizes 0 and more, and to be set: -1 is refused. A leading dimension
/// counts the elements from one row (row-major) or column (column-major) of the stored matrix to the next. Numbers may
/// come in any integral type.
struct GemmDesc {
  Integer m = -1;
  Integer n = -1;
  Integer k = -1;
  DType dtype = DType::f32;
  Order order = Order::row_major;
  Transpose trans_a = Transpose::no;
  Transpose trans_b = Transpose::no;
  Integer lda = kPacked;
  Integer ldb = kPacked;
  Integer ldc = kPacked;
  Integer batch = 1;
  /// Elements from one matrix of the batch to the next; 0 repeats the one matrix (A and B only).
  Integer stride_a = kPacked;
  Integer stride_b = kPacked;
  Integer stride_c = kPacked;
  Compute compute = Compute::strict;
};

/// A matrix product, validated once and executed many times, by one thread at a time.
/// BLAS semantics: beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B; NaN and Inf propagate.
/// C may share no element with A or B; blocks of one parent array are fine.
/// Error, element by element: (k + 4) u (|alpha| |A||B| + |beta| |C|), u the unit roundoff of the type.
class GemmPlan : public Plan {
 public:
  /// The backend is the environment's choice, else the best for this descriptor with host operands.
  explicit GemmPlan(const GemmDesc& desc, const PlanOptions& options = {})
      : GemmPlan(tessera_plan_create, nullptr, desc, options) {}
  GemmPlan(const Context& context, const GemmDesc& desc, const PlanOptions& options = {})
      : GemmPlan(tessera_plan_create, &context, desc, options) {}

  /// The same from the plan cache, to which the destructor gives it back: see tessera_plan_borrow.
  static GemmPlan borrow(const GemmDesc& desc, const PlanOptions& options = {}) {
    return GemmPlan(tessera_plan_borrow, nullptr, desc, options);
  }
  static GemmPlan borrow(const Context& context, const GemmDesc& desc, const PlanOptions& options = {}) {
    return GemmPlan(tessera_plan_borrow, &context, desc, options);
  }

  /// Every way in which the context's backend would run the problem, the one that a plan takes first.
  static std::vector<Offer> offers(const Context& context, const GemmDesc& desc, const PlanOptions& options = {}) {
    return Plan::offers(context, Translated(desc).get(), options);
  }

  /// Another plan of the same problem, context, algorithm and parameters, with a workspace of its own: for another
  /// thread. May be called while this plan is executed.
  GemmPlan clone() const { return GemmPlan(CloneOf{*this}, desc_); }

  /// Host operands: complete on return. Device operands: queued on the context's stream.
  template <Element T>
  void execute(std::type_identity_t<T> alpha, std::type_identity_t<const T*> a, std::type_identity_t<const T*> b,
               std::type_identity_t<T> beta, T* c) {
    const tessera_operand operands[] = {operand(a), operand(b), operand<T>(c)};
    const tessera_scalar scalars[] = {scalar(alpha), scalar(beta)};
    run(operands, 3, scalars, 2);
  }

  /// The same on contiguous host ranges (vectors, arrays, spans), whose sizes are checked.
  template <std::ranges::contiguous_range C, Element T = std::ranges::range_value_t<C>>
  void execute(std::type_identity_t<T> alpha, std::type_identity_t<std::span<const T>> a,
               std::type_identity_t<std::span<const T>> b, std::type_identity_t<T> beta, C&& c) {
    check_range(0, "a", a.size());
    check_range(1, "b", b.size());
    check_range(2, "c", std::ranges::size(c));
    execute<T>(alpha, a.data(), b.data(), beta, std::ranges::data(c));
  }

  /// The same on buffers, whose sizes are checked: for plans with PlanOptions::operands = Memory::device.
  template <Element T>
  void execute(std::type_identity_t<T> alpha, const std::type_identity_t<Buffer<T>>& a,
               const std::type_identity_t<Buffer<T>>& b, std::type_identity_t<T> beta, Buffer<T>& c) {
    check_buffer(0, "a", a);
    check_buffer(1, "b", b);
    check_buffer(2, "c", c);
    execute<T>(alpha, a.data(), b.data(), beta, c.data());
  }

#if defined(__cpp_lib_mdspan)
  /// The same on host matrices, whose extents and layout must be those of the descriptor (without a batch).
  template <Element T, class EA, class LA, class EB, class LB, class EC, class LC>
  requires(EA::rank() == 2 && EB::rank() == 2 &&
           EC::rank() == 2) void execute(std::type_identity_t<T> alpha, std::mdspan<const T, EA, LA> a,
                                         std::mdspan<const T, EB, LB> b, std::type_identity_t<T> beta,
                                         std::mdspan<T, EC, LC> c) {
    check_matrix("a", a, desc_.trans_a, desc_.m, desc_.k, desc_.lda);
    check_matrix("b", b, desc_.trans_b, desc_.k, desc_.n, desc_.ldb);
    check_matrix("c", c, Transpose::no, desc_.m, desc_.n, desc_.ldc);
    execute<T>(alpha, a.data_handle(), b.data_handle(), beta, c.data_handle());
  }
#endif

 private:
  GemmPlan(CloneOf of, const GemmDesc& d) : Plan(of), desc_(d) {}
  GemmPlan(Source source, const Context* context, const GemmDesc& d, const PlanOptions& options)
      : Plan(source, context, Translated(d).get(), options), desc_(d) {}

  struct Translated {
    tessera_gemm_desc c;
    explicit Translated(const GemmDesc& d)
        : c{sizeof c,
            TESSERA_OP_GEMM,
            tessera_dtype(d.dtype),
            tessera_compute(d.compute),
            tessera_order(d.order),
            tessera_transpose(d.trans_a),
            tessera_transpose(d.trans_b),
            d.m,
            d.n,
            d.k,
            d.lda,
            d.ldb,
            d.ldc,
            d.batch,
            d.stride_a,
            d.stride_b,
            d.stride_c} {}
    const void* get() const { return &c; }
  };

#if defined(__cpp_lib_mdspan)
  template <class Matrix>
  void check_matrix(const char* name, const Matrix& x, Transpose trans, std::int64_t rows, std::int64_t columns,
                    std::int64_t ld) const {
    if (trans == Transpose::yes) std::swap(rows, columns);
    const bool by_rows = desc_.order == Order::row_major;
    if (ld == kPacked) ld = by_rows ? columns : rows;
    const bool shape = std::int64_t(x.extent(0)) == rows && std::int64_t(x.extent(1)) == columns && desc_.batch == 1;
    const bool layout = (rows < 2 || std::int64_t(x.stride(0)) == (by_rows ? ld : 1)) &&
                        (columns < 2 || std::int64_t(x.stride(1)) == (by_rows ? 1 : ld));
    if (!shape || !layout)
      throw Error(ErrorCode::invalid_argument, std::string(name) + " does not have the descriptor's shape (" +
                                                   std::to_string(rows) + " x " + std::to_string(columns) +
                                                   ") and leading dimension " + std::to_string(ld));
  }
#endif

  GemmDesc desc_;
};

/// A product in one call: C <- alpha op(A) op(B) + beta C, on what GemmPlan::execute takes: ranges, pointers, buffers.
/// Pointers are taken for host memory: device pointers need {.operands = Memory::device}.
/// The element type is that of `c`, whatever the descriptor says. The plan comes from the plan cache, so that the same
/// product costs little more the next time than with a plan that the program keeps; tessera_plan_borrow tells more.
template <class A, class B, class C, Element T = detail::element_of<C>>
void gemm(const GemmDesc& desc, std::type_identity_t<T> alpha, const A& a, const B& b, std::type_identity_t<T> beta,
          C&& c, const PlanOptions& options = {}) {
  GemmDesc typed = desc;
  typed.dtype = kDType<T>;
  GemmPlan::borrow(typed, detail::options_for<C>(options)).execute(alpha, a, b, beta, c);
}
/// The same on the device of a context. Buffers, and pointers with {.operands = Memory::device}: queued on its stream.
template <class A, class B, class C, Element T = detail::element_of<C>>
void gemm(const Context& context, const GemmDesc& desc, std::type_identity_t<T> alpha, const A& a, const B& b,
          std::type_identity_t<T> beta, C&& c, const PlanOptions& options = {}) {
  GemmDesc typed = desc;
  typed.dtype = kDType<T>;
  GemmPlan::borrow(context, typed, detail::options_for<C>(options)).execute(alpha, a, b, beta, c);
}

}  // namespace tessera
