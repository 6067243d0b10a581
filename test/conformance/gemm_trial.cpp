// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "gemm_judge.hpp"
#include "runner.hpp"
#include "stop.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

namespace tessera::test {

namespace {

/// All integers up to this are numbers of T.
template <class T>
constexpr std::int64_t kExact = std::int64_t{1} << Numbers<T>::kDigits;
/// The wide operand has this many significant bits, more than half of the type's: more than a narrower type that the
/// product might be computed in instead (f32: tf32 has 11, bf16 8; f64: f32 has 24). Types of 16 bits: all they have.
template <class T>
constexpr int kWideBits = kNarrow<T> ? Numbers<T>::kDigits : Numbers<T>::kDigits / 2 + 1;
/// What integers are scaled by, so that f16 holds sums of them up to 2^24 as finite numbers.
template <class T>
constexpr double kScale = Numbers<T>::kLargest < 0x1p24 ? 0x1p-10 : 1.0;

template <class T, class Value>
void set(const GuardedArray<T>& array, const MatrixLayout& layout, Value&& value) {
  for (std::int64_t l = 0; l < layout.batch; ++l)
    for (std::int64_t i = 0; i < layout.rows; ++i)
      for (std::int64_t j = 0; j < layout.columns; ++j) array[layout.at(l, i, j)] = number<T>(value(i, j));
}

/// Odd numbers of `bits` bits, of either sign.
std::int64_t wide_integer(Random& random, int bits) {
  const std::int64_t top = std::int64_t{1} << (bits - 1);
  const std::int64_t magnitude = top + (random.integer(0, top - 1) | 1);
  return random.bits() % 2 == 0 ? magnitude : -magnitude;
}

/// Integers up to `most` that T has: those of more bits end with zeros.
template <class T>
double integer_up_to(Random& random, std::int64_t most) {
  const int beyond = std::max(0, int(std::bit_width(std::uint64_t(most))) - Numbers<T>::kDigits);
  const std::int64_t unit = std::int64_t{1} << random.integer(0, beyond);
  const std::int64_t count = std::min(most / unit, kExact<T>);
  return double(random.integer(-count, count) * unit);
}

/// NaN and infinities in corners: where partial tiles, padding and the ends of loops are.
template <class T>
void plant(const GuardedArray<T>& array, const MatrixLayout& layout, bool in_a) {
  if (layout.span() == 0) return;
  const std::int64_t i = layout.rows - 1, j = layout.columns - 1;
  array[layout.at(0, i, j)] = number<T>(INFINITY);
  array[layout.at(0, 0, in_a ? j : 0)] = number<T>(-INFINITY);
  if (in_a ? i > 1 : j > 1) array[in_a ? layout.at(0, 1, 0) : layout.at(0, 0, 1)] = number<T>(NAN);
}

template <class T, class D, class U>
GemmDesc typed(const GemmCase& c, Compute compute) {
  GemmDesc desc = c.desc;
  desc.dtype = kDType<T>;
  if (kDType<U> != kDType<T>) desc.dtype_b = kDType<U>;
  desc.compute = compute;  // whatever TESSERA_GEMM_COMPUTE says
  if (kDType<T> != kDType<D>) desc.dtype_d = kDType<D>;
  if (kNarrow<D> && c.f32_bias) desc.dtype_bias = DType::f32;
  return desc;
}

/// tf32 rounds what is wide, and bf16 has no denormal numbers as small as f32's.
bool is_exact(GemmData data, Compute compute) {
  if (data == GemmData::denormal || data == GemmData::denormal_products) return compute == Compute::strict;
  if (data == GemmData::wide_a || data == GemmData::wide_b) return compute != Compute::tf32;
  return data == GemmData::overflow;
}

}  // namespace

template <class T, class D, class U>
GemmTrial<T, D, U>::GemmTrial(const GemmCase& c, Compute compute)
    : name_(c.name),
      desc_(typed<T, D, U>(c, compute)),
      layout_(layout_of(c.desc)),
      beside_c_(c.result != GemmResult::in_c),
      f32_bias_given_(kNarrow<D> && c.f32_bias),
      alpha_(S(c.alpha)),
      beta_(S(c.beta)),
      exact_(is_exact(c.data, compute)),
      null_inputs_(c.data == GemmData::null_a_and_b || c.data == GemmData::random_bits),
      null_c_(c.result == GemmResult::instead_of_c),
      random_(c.name),
      shift_(random_.integer(0, 3)),
      a_(layout_.a.span(), any_side(random_)),
      b_(layout_.b.span(), any_side(random_)),
      c_(null_c_ ? 0 : layout_.c.span(), any_side(random_)),
      d_(beside_c_ ? layout_.d.span() : 0, any_side(random_)),
      bias_(f32_bias_given_ ? 0 : layout_.bias.span(), any_side(random_)),
      aux_(layout_.aux.span(), any_side(random_)),
      f32_bias_(f32_bias_given_ ? layout_.bias.span() : 0, any_side(random_)) {
  fill(c);
  a_before_ = a_.copy(), b_before_ = b_.copy(), c_before_ = c_.copy(), out_before_ = out().copy();
  bias_before_ = bias_.copy(), f32_bias_before_ = f32_bias_.copy(), aux_before_ = aux_.copy();
  expected_ = gemm_reference<T, D, U>(desc_, alpha_, a_.data(), b_.data(), beta_, c_.data(), exact_, packed_bias(),
                                      packed_aux());
}

template <class T, class D, class U>
void GemmTrial<T, D, U>::fill(const GemmCase& c) {
  const auto uniform = [&](std::int64_t = 0, std::int64_t = 0) { return random_.uniform(); };
  if (desc_.aux == Aux::derivative)
    set(aux_, layout_.aux, [&](std::int64_t, std::int64_t) { return 4 * random_.uniform(); });
  if (c.data == GemmData::wide_a) return fill_integers(c, kWideBits<T>, kExact<S>, kScale<D>);
  if (c.data == GemmData::wide_b) return fill_integers(c, kWideBits<U>, kExact<S>, kScale<D>);
  if (c.data == GemmData::denormal)
    return fill_integers(c, std::min(8, Numbers<T>::kDigits / 3), kExact<T> / 4, Numbers<T>::kLeast);
  if (c.data == GemmData::denormal_products) {
    const double of_b = std::ldexp(1.0, std::ilogb(Numbers<T>::kLeast) / 2), more = of_b < 0x1p-40 ? 0x1p40 : 0x1p10;
    return fill_integers(c, std::min(8, Numbers<T>::kDigits / 3), kExact<T> / 4, Numbers<T>::kLeast / of_b,
                         [&](std::int64_t j) { return 2 * j < c.desc.n ? more * of_b : of_b; });
  }
  if (c.data == GemmData::overflow) return fill_around_overflow();
  if (c.data == GemmData::random_bits) return fill_bits();
  fill_bias(uniform);
  if (c.data == GemmData::nan_everywhere || null_inputs_) {
    if (!null_c_) set(c_, layout_.c, uniform);
    return;  // A and B stay NaN
  }
  set(a_, layout_.a, uniform);
  set(b_, layout_.b, uniform);
  if (c.data == GemmData::nan_and_inf) {
    plant(a_, layout_.a, true);
    plant(b_, layout_.b, false);
  }
  if (c.beta != 0.0 && c.data != GemmData::nan_in_c) set(c_, layout_.c, uniform);  // else C stays NaN
}

/// Integers with |alpha| sum |a||b| + |beta| |c| + |bias| below `limit`: one operand wide, the other small, and zero at
/// most terms where k is so large that it must be. The last term of a sum never is zero. The wide operand, C and the
/// bias are multiplied by `scale`, where B is the small one its column j by small_scale(j).
template <class T, class D, class U>
void GemmTrial<T, D, U>::fill_integers(const GemmCase& c, int bits, std::int64_t limit, double scale,
                                       const std::function<double(std::int64_t)>& small_scale) {
  const std::int64_t largest = std::int64_t{1} << bits;
  const std::int64_t most_terms = limit / 2 / std::int64_t(std::max(1.0, std::abs(c.alpha))) / largest - 1;
  const std::int64_t k = std::max<std::int64_t>(c.desc.k, 1);
  const std::int64_t every = (k + most_terms - 1) / most_terms;  // each every-th term is not zero
  const std::int64_t small = std::clamp<std::int64_t>(most_terms / ((k + every - 1) / every + 1), 1,
                                                      std::min({std::int64_t(1000), kExact<T>, kExact<U>}));
  const auto wide_value = [&](std::int64_t, std::int64_t) { return double(wide_integer(random_, bits)) * scale; };
  const auto narrow_value = [&](std::int64_t p) {
    if (every > 1 && p % every != every - 1 && p != k - 1) return 0.0;
    const std::int64_t value = random_.integer(1, small);
    return double(random_.bits() % 2 == 0 ? value : -value);
  };
  if (c.data == GemmData::wide_b) {
    set(b_, layout_.b, wide_value);
    set(a_, layout_.a, [&](std::int64_t, std::int64_t p) { return narrow_value(p); });
  } else {
    set(a_, layout_.a, wide_value);
    set(b_, layout_.b, [&](std::int64_t p, std::int64_t j) { return narrow_value(p) * small_scale(j); });
  }
  const std::int64_t most_c = limit / 4 / std::int64_t(std::max(1.0, std::abs(c.beta)));
  if (c.beta != 0.0)
    set(c_, layout_.c, [&](std::int64_t, std::int64_t) { return integer_up_to<D>(random_, most_c) * scale; });
  fill_bias([&] {
    return (f32_bias_given_ ? integer_up_to<float>(random_, limit / 4) : integer_up_to<D>(random_, limit / 4)) * scale;
  });
}

/// 2047 * 32 = 65504, the largest number of f16, and 0 to 32 more, or the negative of that.
template <class T, class D, class U>
void GemmTrial<T, D, U>::fill_around_overflow() {
  set(a_, layout_.a, [&](std::int64_t, std::int64_t p) { return double(p == 0 ? 2047 : random_.integer(0, 32)); });
  set(b_, layout_.b, [&](std::int64_t p, std::int64_t j) { return (p == 0 ? 32.0 : p == 1) * (j % 3 == 0 ? -1 : 1); });
  fill_bias([] { return 0.0; });
}

template <class T, class D, class U>
void GemmTrial<T, D, U>::fill_bits() {
  for (std::int64_t i = 0; i < layout_.c.span(); ++i) {
    const std::uint64_t bits = random_.bits();
    std::memcpy(&c_[i], &bits, sizeof(D));
  }
  for (std::int64_t i = 0; desc_.aux == Aux::derivative && i < layout_.aux.span(); ++i) {
    const std::uint64_t bits = random_.bits();
    std::memcpy(&aux_[i], &bits, sizeof(D));
  }
}

template <class T, class D, class U>
template <class Value>
void GemmTrial<T, D, U>::fill_bias(Value&& value) {
  if (is_gradient(desc_.bias)) return;
  const auto each = [&](std::int64_t, std::int64_t) { return value(); };
  if (f32_bias_given_)
    set(f32_bias_, layout_.bias, each);
  else
    set(bias_, layout_.bias, each);
}

template <class T, class D, class U>
std::vector<double> GemmTrial<T, D, U>::packed_bias() const {
  std::vector<double> values;
  for (std::int64_t l = 0; !is_gradient(desc_.bias) && l < layout_.bias.batch; ++l)
    for (std::int64_t i = 0; i < layout_.bias.rows; ++i) {
      const std::int64_t place = layout_.bias.at(l, i, 0);
      values.push_back(f32_bias_given_ ? double(f32_bias_[place]) : double(wide(bias_[place])));
    }
  return values;
}

template <class T, class D, class U>
std::vector<double> GemmTrial<T, D, U>::packed_aux() const {
  std::vector<double> values;
  if (desc_.aux != Aux::derivative) return values;
  for (std::int64_t l = 0; l < layout_.aux.batch; ++l)
    for (std::int64_t i = 0; i < layout_.aux.rows; ++i)
      for (std::int64_t j = 0; j < layout_.aux.columns; ++j)
        values.push_back(double(wide(aux_[layout_.aux.at(l, i, j)])));
  return values;
}

template <class T, class D, class U>
void GemmTrial<T, D, U>::execute(GemmPlan& plan, const T* a, const U* b, D* c, D* d, D* bias, float* f32_bias,
                                 D* aux) const {
  if (null_inputs_) a = nullptr, b = nullptr;
  if (b_prepared_) b = nullptr;
  if (null_c_) c = nullptr;
  const auto with_all = [&](const auto&... more) {
    if (beside_c_)
      plan.execute(alpha_, a, b, beta_, static_cast<const D*>(c), d, more...);
    else
      plan.execute(alpha_, a, b, beta_, c, more...);
  };
  const auto with = [&](const auto&... more) {
    if (desc_.aux == Aux::none)
      with_all(more...);
    else
      with_all(tessera::aux(aux), more...);
  };
  const auto with_bias = [&](auto* values) {
    if (is_gradient(desc_.bias))
      with(tessera::bias_gradient(values));
    else
      with(tessera::bias(values));
  };
  if (desc_.bias == Bias::none)
    with();
  else if (f32_bias_given_)
    with_bias(f32_bias);
  else
    with_bias(bias);
}

template <class T, class D, class U>
void GemmTrial<T, D, U>::execute_on_host(GemmPlan& plan) {
  execute(plan, a_.data(), b_.data(), c_.data(), d_.data(), bias_.data(), f32_bias_.data(), aux_.data());
}

template <class T, class D, class U>
void GemmTrial<T, D, U>::execute_on_device(Context& context, GemmPlan& plan) {
  DeviceArray<T> a(context, a_, shift_);
  DeviceArray<U> b(context, b_, shift_);
  DeviceArray<D> c(context, c_, shift_), d(context, d_, shift_), bias(context, bias_, shift_),
      aux(context, aux_, shift_);
  DeviceArray<float> f32_bias(context, f32_bias_, shift_);
  execute(plan, a.data(), b.data(), c.data(), d.data(), bias.data(), f32_bias.data(), aux.data());
  context.synchronize();
  if (!a.download(a_) || !b.download(b_)) stop("memory around A or B was written");
  if (!c.download(c_) || !d.download(d_)) stop("memory around C or D was written");
  if (!bias.download(bias_) || !f32_bias.download(f32_bias_)) stop("memory around the bias was written");
  if (!aux.download(aux_)) stop("memory around aux was written");
}

template <class T, class D, class U>
std::string GemmTrial<T, D, U>::run(Context& context, GemmPlan& plan, Memory memory) {
  const Running running(what_runs(name_, plan));
  std::vector<D> first, first_bias, first_aux;
  const bool gradient = is_gradient(desc_.bias), stores = desc_.aux == Aux::store;
  a_.restore(a_before_), b_.restore(b_before_), c_.restore(c_before_);  // another algorithm may have written them
  for (int execution = 0; execution < 2; ++execution) {
    out().restore(out_before_), aux_.restore(aux_before_);
    bias_.restore(bias_before_), f32_bias_.restore(f32_bias_before_);
    if (memory == Memory::host)
      execute_on_host(plan);
    else
      execute_on_device(context, plan);
    if (!a_.same_bits(a_before_) || !b_.same_bits(b_before_)) return "A or B was written";
    if (beside_c_ && !c_.same_bits(c_before_)) return "C was written, though D is another matrix";
    if (!gradient && (!bias_.same_bits(bias_before_) || !f32_bias_.same_bits(f32_bias_before_)))
      return "the bias was written";
    if (!stores && !aux_.same_bits(aux_before_)) return "aux was written";
    if (!c_.surroundings_intact() || !a_.surroundings_intact() || !b_.surroundings_intact() ||
        !d_.surroundings_intact() || !bias_.surroundings_intact() || !f32_bias_.surroundings_intact() ||
        !aux_.surroundings_intact())
      stop("memory beside an operand was written");
    if (execution == 0) {
      first = out().copy(), first_bias = bias_.copy(), first_aux = aux_.copy();
      if (std::string problem = judge(); !problem.empty()) return problem;
    } else if (!out().same_bits(first) || !bias_.same_bits(first_bias) || !aux_.same_bits(first_aux)) {
      return "a second execution gave other bits";
    }
  }
  return "";
}

template <class T, class D, class U>
std::string GemmTrial<T, D, U>::run_prepared(Context& context, GemmPlan& plan, Memory memory) {
  b_prepared_ = true;
  const std::string problem = run(context, plan, memory);
  b_prepared_ = false;
  return problem;
}

template <class T, class D, class U>
PreparedOperand GemmTrial<T, D, U>::prepare(Context& context, std::int64_t rows, const std::string& algorithm,
                                            Memory memory) {
  GemmDesc desc = desc_;
  desc.m = rows;
  desc.lda = desc.ldc = kPacked, desc.ldd = kLikeC, desc.stride_a = kPacked;
  desc.stride_c = kPacked, desc.stride_d = kLikeC, desc.bias = Bias::none;
  desc.activation = Activation::none, desc.aux = Aux::none;
  const PlanOptions options{.operands = memory, .algorithm = algorithm};
  b_.restore(b_before_);
  if (memory == Memory::host) return tessera::prepare(context, desc, b_.data(), options);
  return tessera::prepare(context, desc, DeviceArray<U>(context, b_, shift_).data(), options);
}

template <class T, class D, class U>
std::string GemmTrial<T, D, U>::judge() const {
  std::string problem = judge_matrix<D>("D", layout_.d, out(), out_before_, expected_.value, expected_.bound);
  if (problem.empty() && desc_.aux == Aux::store)
    problem = judge_matrix<D>("aux", layout_.aux, aux_, aux_before_, expected_.aux, expected_.aux_bound);
  if (!problem.empty() || !is_gradient(desc_.bias)) return problem;
  return f32_bias_given_ ? judge_gradient<D>(desc_, layout_, out(), f32_bias_, f32_bias_before_)
                         : judge_gradient<D>(desc_, layout_, out(), bias_, bias_before_);
}

template class GemmTrial<float>;
template class GemmTrial<double>;
template class GemmTrial<float16>;
template class GemmTrial<bfloat16>;
template class GemmTrial<float16, float>;
template class GemmTrial<bfloat16, float>;
template class GemmTrial<float, float, bfloat16>;
template class GemmTrial<bfloat16, float, float>;
template class GemmTrial<float, float, float16>;
template class GemmTrial<float16, float, float>;
template class GemmTrial<double, double, float>;
template class GemmTrial<float, double, double>;

}  // namespace tessera::test
