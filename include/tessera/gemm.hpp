// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GemmPlan: D <- activation(alpha * op(A) * op(B) + beta * C + bias).
#pragma once

#include <tessera/gemm_desc.hpp>
#include <tessera/plan.hpp>

#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace tessera {

namespace detail {
struct OneProduct;
/// A bias or aux among the operands of a product, and whether it may be written.
template <Role kRole, class Values, bool kWritten>
struct NamedOperand {
  Values& values;
};
template <class T>
inline constexpr Role kNamed = Role::d;
template <Role kRole, class Values, bool kWritten>
inline constexpr Role kNamed<NamedOperand<kRole, Values, kWritten>> = kRole;
/// Whether an operand has that name, and may be written.
template <Role kRole, class T>
inline constexpr bool kWritableAs = false;
template <Role kRole, class Values>
inline constexpr bool kWritableAs<kRole, NamedOperand<kRole, Values, true>> = true;
/// What may follow C: D, a bias, aux.
template <class T>
concept GemmOperand = Operand<T> || kNamed<std::decay_t<T>>
!= Role::d;
/// A matrix that is read, or nullptr where it is not: alpha or k is 0 (A, B), beta is 0 (C beside a D).
template <class T>
concept GemmInput = Operand<T> || std::is_null_pointer_v<std::remove_cvref_t<T>>;
/// The type of C and D: that of the first of them that is not nullptr.
template <class C, class... More>
struct ResultOf {
  using type = element_of<C>;
};
template <class C, class D, class... More>
requires(!Operand<C>) struct ResultOf<C, D, More...> {
  using type = element_of<D>;
};
/// The type of alpha and beta.
template <class... Matrices>
using GemmScalar = Scalar<typename ResultOf<Matrices...>::type>;
}  // namespace detail

/// Names the bias among the operands of GemmPlan::execute and gemm: a pointer, a range or a Buffer.
template <detail::Operand Values>
detail::NamedOperand<Role::bias, const Values, false> bias(const Values& values) {
  return {values};
}
/// Names the bias where it is a gradient, and so is written.
template <detail::Operand Values>
detail::NamedOperand<Role::bias, std::remove_reference_t<Values>, true> bias_gradient(Values&& values) {
  static_assert(detail::kWritable<Values&>, "the gradient of a bias is written: its values must not be const");
  return {values};
}
/// Names aux: a pointer, a contiguous range or a Buffer; not const where the plan stores it.
template <detail::Operand Values>
detail::NamedOperand<Role::aux, std::remove_reference_t<Values>, detail::kWritable<Values&>> aux(Values&& values) {
  return {values};
}

/// A matrix product, validated once and executed many times, by one thread at a time.
/// BLAS semantics: beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B; NaN and Inf propagate.
/// D is C itself or shares no element with it, and what is written none with anything else; blocks of one parent array
/// are fine. Error before the activation, element by element: (k + 4) u (|alpha| |A||B| + |beta| |C| + |bias|), u the
/// unit roundoff of f64 for f64, else 2^-24 (2^-23 where A and B have 16 bits), and then one rounding to the type of D.
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

  /// Measures as a plan of Effort::measure would, whatever wisdom says and with more patience: 0.4 s for a problem that
  /// takes below 1 ms, for others 10 s or 24 executions, whichever is more. What it finds is the process's wisdom then,
  /// for plans that are made from now on; those of the plan cache stay. wisdom::save() keeps it.
  /// Returns what was tried. Throws invalid_argument where nothing is left to choose, as of an algorithm with
  /// parameters or for an empty output; out_of_memory where there is none for the operands.
  static std::vector<Tried> tune(const Context& context, const GemmDesc& desc, const PlanOptions& options = {}) {
    return Plan::tune(&context, Translated(desc).get(), options);
  }
  /// The same, among backends, too.
  static std::vector<Tried> tune(const GemmDesc& desc, const PlanOptions& options = {}) {
    return Plan::tune(nullptr, Translated(desc).get(), options);
  }

  /// Another plan of the same problem, context, algorithm and parameters, with a workspace of its own: for another
  /// thread. May be called while this plan is executed.
  GemmPlan clone() const { return GemmPlan(CloneOf{*this}, desc_); }

  /// D is C, or the first operand behind it: `execute(alpha, a, b, beta, c, d, bias(v), aux(z))`. Each operand is a
  /// pointer, a contiguous range on the host (vector, array, span), a std::mdspan there, whose extents and layout must
  /// be those of the descriptor (without a batch), or a Buffer, for plans with PlanOptions::operands = Memory::device;
  /// the sizes of ranges and buffers are checked. alpha and beta are double for f64, else float. nullptr stands for a
  /// matrix that is not read. Host operands: complete on return. Device operands: queued on the context's stream, with
  /// the scalars' values of now.
  template <detail::GemmInput A, detail::GemmInput B, detail::GemmInput C, detail::GemmOperand... More>
  void execute(detail::GemmScalar<C, More...> alpha, const A& a, const B& b, detail::GemmScalar<C, More...> beta, C&& c,
               More&&... more) {
    constexpr auto count = []([[maybe_unused]] Role role) {
      return (0 + ... + (detail::kNamed<std::decay_t<More>> == role));
    };
    constexpr int kSeparate = count(Role::d);
    static_assert(kSeparate <= 1 && count(Role::bias) <= 1 && count(Role::aux) <= 1,
                  "after c: d, bias(values) or bias_gradient(values), aux(matrix)");
    static_assert(kSeparate == 1 || detail::kWritable<C>, "c must not be const where no d is given");
    check_bias(count(Role::bias) == 1, (false || ... || detail::kWritableAs<Role::bias, std::decay_t<More>>));
    check_aux(count(Role::aux) == 1, (false || ... || detail::kWritableAs<Role::aux, std::decay_t<More>>));
    const tessera_operand operands[] = {matrix(Role::a, a), matrix(Role::b, b), matrix(Role::c, c),
                                        further(std::forward<More>(more))...};
    const tessera_scalar scalars[] = {scalar(alpha), scalar(beta)};
    run(operands, std::size(operands), scalars, 2);
  }

 private:
  friend struct detail::OneProduct;
  friend class DistributedGemmPlan;
  GemmPlan(CloneOf of, const GemmDesc& d) : Plan(of), desc_(d) {}
  GemmPlan(Source source, const Context* context, const GemmDesc& d, const PlanOptions& options)
      : Plan(source, context, Translated(d).get(), options), desc_(d) {}

  struct Translated {
    tessera_gemm_desc c{};
    explicit Translated(const GemmDesc& d) {
      c.struct_size = sizeof c;
      c.op = TESSERA_OP_GEMM;
      c.dtype = tessera_dtype(d.dtype);
      c.dtype_b = d.dtype_b ? tessera_dtype(*d.dtype_b) : 0;
      c.dtype_d = d.dtype_d ? tessera_dtype(*d.dtype_d) : 0;
      c.dtype_bias = d.dtype_bias ? tessera_dtype(*d.dtype_bias) : 0;
      c.compute = tessera_compute(d.compute);
      c.order = tessera_order(d.order);
      c.trans_a = tessera_transpose(d.trans_a), c.trans_b = tessera_transpose(d.trans_b);
      c.bias = tessera_bias(d.bias), c.activation = tessera_activation(d.activation);
      c.m = d.m, c.n = d.n, c.k = d.k;
      c.lda = d.lda, c.ldb = d.ldb, c.ldc = d.ldc, c.ldd = d.ldd;
      c.batch = d.batch;
      c.stride_a = d.stride_a, c.stride_b = d.stride_b, c.stride_c = d.stride_c, c.stride_d = d.stride_d;
      c.bias_increment = d.bias_increment, c.bias_stride = d.bias_stride;
      c.sums = tessera_sums(d.sums);
      c.whole_n = d.whole_n;
      c.triangle = tessera_triangle(d.triangle);
      c.aux = tessera_aux(d.aux);
      if (d.aux != Aux::none) c.ldaux = d.ldaux, c.stride_aux = d.stride_aux;
    }
    const void* get() const { return &c; }
  };

  void check_bias(bool given, bool as_gradient) const {
    const bool wanted = desc_.bias != Bias::none;
    const bool gradient = desc_.bias == Bias::gradient_per_row || desc_.bias == Bias::gradient_per_column;
    if (given == wanted && as_gradient == gradient) return;
    const std::string how = gradient ? "bias_gradient(values)" : "bias(values)";
    throw Error(ErrorCode::invalid_argument,
                !wanted ? "bias is given, the plan takes none: set .bias of its descriptor, or leave bias(values) out"
                : given ? "bias is to be " + std::string(gradient ? "written" : "read") + ": pass " + how
                        : "bias is missing: the plan's descriptor has one; pass " + how + " behind c and d");
  }
  void check_aux(bool given, bool writable) const {
    if (given != (desc_.aux != Aux::none))
      throw Error(ErrorCode::invalid_argument,
                  given ? "aux is given, the plan takes none: set .aux of its descriptor, or leave aux(matrix) out"
                        : "aux is missing: the plan's descriptor has it; pass aux(matrix) behind c and d");
    if (desc_.aux == Aux::store && !writable)
      throw Error(ErrorCode::invalid_argument, "aux is const, and this plan writes it: pass an array that is not");
  }
  template <class X>
  tessera_operand matrix(Role role, X&& x) const {
    return operand(role, x);
  }
  tessera_operand matrix(Role role, std::nullptr_t) const {
    const DType a = desc_.dtype, b = desc_.dtype_b.value_or(a);
    const DType type = role == Role::c ? desc_.dtype_d.value_or(wider(a, b)) : role == Role::b ? b : a;
    return {nullptr, tessera_dtype(type), tessera_role(role)};
  }
  template <class X>
  tessera_operand further(X&& x) const {
    constexpr Role kRole = detail::kNamed<std::decay_t<X>>;
    if constexpr (kRole == Role::d)
      return matrix(kRole, x);
    else
      return operand(kRole, x.values);
  }

#if defined(__cpp_lib_mdspan)
  template <class T, class E, class L, class P>
  tessera_operand matrix(Role role, const std::mdspan<T, E, L, P>& x) const {
    static_assert(E::rank() == 2, "a matrix has two axes");
    const bool is_a = role == Role::a, is_b = role == Role::b;
    std::int64_t rows = is_b ? desc_.k : desc_.m, columns = is_a ? desc_.k : desc_.n;
    const std::int64_t ld_d = role == Role::d && desc_.ldd != kLikeC ? desc_.ldd : desc_.ldc;
    std::int64_t ld = is_a ? desc_.lda : is_b ? desc_.ldb : ld_d;
    if ((is_a && desc_.trans_a == Transpose::yes) || (is_b && desc_.trans_b == Transpose::yes))
      std::swap(rows, columns);
    const bool by_rows = desc_.order == Order::row_major;
    if (ld == kPacked) ld = by_rows ? columns : rows;
    const bool shape = std::int64_t(x.extent(0)) == rows && std::int64_t(x.extent(1)) == columns && desc_.batch == 1;
    const bool layout = (rows < 2 || std::int64_t(x.stride(0)) == (by_rows ? ld : 1)) &&
                        (columns < 2 || std::int64_t(x.stride(1)) == (by_rows ? 1 : ld));
    if (!shape || !layout)
      throw Error(ErrorCode::invalid_argument, std::string(name_of(role)) + " does not have the descriptor's shape (" +
                                                   std::to_string(rows) + " x " + std::to_string(columns) +
                                                   ") and leading dimension " + std::to_string(ld));
    return operand(role, x.data_handle());
  }
#endif

  GemmDesc desc_;
};

namespace detail {

/// A product in one call.
struct OneProduct {
  /// Whether it is small and is done without a plan: see tessera_small_gemm.
  template <class A, class B, class C, class... More>
  static bool small(const Context* context, const GemmDesc& desc, Scalar<element_of<C>> alpha, const A& a, const B& b,
                    Scalar<element_of<C>> beta, C& c, const More&...) {
    using T = element_of<C>;
    constexpr bool kAlike = std::is_same_v<T, element_of<A>> && std::is_same_v<T, element_of<B>>;
    constexpr bool kReal = !is_complex(kDType<T>);
    if constexpr (sizeof...(More) == 0 && kAlike && kReal && kWritable<C&> && kIsArray<A> && kIsArray<B> &&
                  kIsArray<C>) {
      GemmPlan::Translated d(desc);
      d.c.dtype = d.c.dtype_d = tessera_dtype(kDType<T>);
      const std::uint64_t elements[] = {size_of(a), size_of(b), size_of(c)};
      tessera_context* const handle = context == nullptr ? nullptr : context->get();
      return (context == nullptr || handle != nullptr) &&
             tessera_small_gemm(handle, &d.c, alpha, data_of(a), data_of(b), beta, data_of(c), elements) != 0;
    }
    return false;
  }

  template <class A, class B, class C, class... More>
  static void gemm(const Context* context, GemmDesc desc, Scalar<element_of<C>> alpha, const A& a, const B& b,
                   Scalar<element_of<C>> beta, C&& c, const PlanOptions& options, More&&... more) {
    desc.dtype = kDType<element_of<A>>;
    desc.dtype_d = kDType<element_of<C>>;
    desc.dtype_b = kDType<element_of<B>>;
    using Wider = std::conditional_t<(sizeof(element_of<A>) < sizeof(element_of<B>)), element_of<B>, element_of<A>>;
    if (!can_multiply(desc.dtype, *desc.dtype_b)) require_type("b", *desc.dtype_b, "a", desc.dtype);
    if (*desc.dtype_d != kDType<Scalar<Wider>>) require_type("c", *desc.dtype_d, "a and b", kDType<Wider>);
    (set_bias(desc, more), ...);
    GemmPlan(tessera_plan_borrow, context, desc, options_for<C>(options)).execute(alpha, a, b, beta, c, more...);
  }

  /// With a prepared B.
  template <class A, class C, class... More>
  static void prepared(GemmDesc desc, Scalar<element_of<C>> alpha, const A& a, const PreparedOperand& b,
                       Scalar<element_of<C>> beta, C&& c, More&&... more) {
    desc.dtype = kDType<element_of<A>>;
    desc.dtype_d = kDType<element_of<C>>;
    (set_bias(desc, more), ...);
    PlanOptions options;
    options.prepared = &b;
    GemmPlan(tessera_plan_borrow, nullptr, desc, options_for<C>(options)).execute(alpha, a, nullptr, beta, c, more...);
  }

  static GemmPlan::Translated translated(const GemmDesc& desc) { return GemmPlan::Translated(desc); }
  template <class X>
  static auto data_of(X& x) {
    if constexpr (std::is_pointer_v<std::remove_const_t<X>>)
      return x;
    else if constexpr (std::ranges::contiguous_range<X>)
      return std::ranges::data(x);
    else
      return x.data();
  }
  template <class X>
  static std::uint64_t size_of(const X& x) {
    if constexpr (std::is_pointer_v<X>)
      return UINT64_MAX;
    else if constexpr (std::ranges::contiguous_range<X>)
      return std::ranges::size(x);
    else
      return std::uint64_t(x.size());
  }

 private:
  /// Pointers, and ranges on the host.
  template <class X>
  static constexpr bool kIsArray = std::is_pointer_v<X> || std::ranges::contiguous_range<X>;
  template <class X>
  static void set_bias(GemmDesc&, const X&) {}
  template <class Values, bool kWritten>
  static void set_bias(GemmDesc& desc, const NamedOperand<Role::bias, Values, kWritten>&) {
    desc.dtype_bias = kDType<element_of<Values>>;
  }
};

}  // namespace detail

/// A product in one call, on what GemmPlan::execute takes. Pointers are taken for host memory: device pointers need
/// {.operands = Memory::device}. The types are those of `a`, `b`, `c` and the bias, whatever the descriptor says. A
/// small product may need no plan (tessera_small_gemm). Other plans come from the plan cache, so that the same product
/// costs little more the next time than with a plan that the program keeps; tessera_plan_borrow tells more.
template <detail::Operand A, detail::Operand B, detail::Operand C, detail::GemmOperand... More>
void gemm(const GemmDesc& desc, Scalar<detail::element_of<C>> alpha, const A& a, const B& b,
          Scalar<detail::element_of<C>> beta, C&& c, More&&... more) {
  if (!detail::OneProduct::small(nullptr, desc, alpha, a, b, beta, c, more...))
    detail::OneProduct::gemm(nullptr, desc, alpha, a, b, beta, c, {}, more...);
}
/// The same on the device of a context. Buffers: queued on its stream. Device pointers need options.
template <detail::Operand A, detail::Operand B, detail::Operand C, detail::GemmOperand... More>
void gemm(const Context& context, const GemmDesc& desc, Scalar<detail::element_of<C>> alpha, const A& a, const B& b,
          Scalar<detail::element_of<C>> beta, C&& c, More&&... more) {
  if (!detail::OneProduct::small(&context, desc, alpha, a, b, beta, c, more...))
    detail::OneProduct::gemm(&context, desc, alpha, a, b, beta, c, {}, more...);
}
/// With options for the plan.
template <detail::Operand A, detail::Operand B, detail::Operand C>
void gemm(const GemmDesc& desc, Scalar<detail::element_of<C>> alpha, const A& a, const B& b,
          Scalar<detail::element_of<C>> beta, C&& c, const PlanOptions& options) {
  detail::OneProduct::gemm(nullptr, desc, alpha, a, b, beta, c, options);
}
/// With options for the plan, on the device of a context. Buffers, and pointers with {.operands = Memory::device}:
/// queued on its stream.
template <detail::Operand A, detail::Operand B, detail::Operand C>
void gemm(const Context& context, const GemmDesc& desc, Scalar<detail::element_of<C>> alpha, const A& a, const B& b,
          Scalar<detail::element_of<C>> beta, C&& c, const PlanOptions& options) {
  detail::OneProduct::gemm(&context, desc, alpha, a, b, beta, c, options);
}

}  // namespace tessera
