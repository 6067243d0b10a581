// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "runner.hpp"
#include "stop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::test {

namespace {

/// All integers up to this are numbers of T.
template <class T>
constexpr std::int64_t kExact = std::int64_t{1} << std::numeric_limits<T>::digits;
/// The wide operand has this many significant bits, more than half of the type's: more than a narrower type that the
/// product might be computed in instead (f32: tf32 has 11, bf16 8; f64: f32 has 24).
template <class T>
constexpr int kWideBits = std::numeric_limits<T>::digits / 2 + 1;

template <class T, class Value>
void set(const GuardedArray<T>& array, const MatrixLayout& layout, Value&& value) {
  for (std::int64_t l = 0; l < layout.batch; ++l)
    for (std::int64_t i = 0; i < layout.rows; ++i)
      for (std::int64_t j = 0; j < layout.columns; ++j) array[layout.at(l, i, j)] = T(value(i, j));
}

/// Odd numbers of `bits` bits, of either sign.
std::int64_t wide_integer(Random& random, int bits) {
  const std::int64_t top = std::int64_t{1} << (bits - 1);
  const std::int64_t magnitude = top + (random.integer(0, top - 1) | 1);
  return random.bits() % 2 == 0 ? magnitude : -magnitude;
}

/// Integers with sums |alpha| sum |a||b| + |beta| |c| below `limit`: one operand wide, the other small, and zero at
/// most terms where k is so large that it must be. The last term of a sum never is zero.
template <class T>
void fill_integers(const GemmCase& c, const GemmLayout& layout, const GuardedArray<T>& a, const GuardedArray<T>& b,
                   const GuardedArray<T>& out, std::int64_t limit, double scale, Random& random) {
  const int bits = limit == kExact<T> ? kWideBits<T> : 8;
  const std::int64_t largest = std::int64_t{1} << bits;
  const std::int64_t most_terms = limit / 2 / std::int64_t(std::max(1.0, std::abs(c.alpha))) / largest - 1;
  const std::int64_t k = std::max<std::int64_t>(c.desc.k, 1);
  const std::int64_t every = (k + most_terms - 1) / most_terms;  // each every-th term is not zero
  const std::int64_t small = std::clamp<std::int64_t>(most_terms / ((k + every - 1) / every + 1), 1, 1000);
  const auto wide = [&](std::int64_t, std::int64_t) { return double(wide_integer(random, bits)) * scale; };
  const auto narrow = [&](std::int64_t p) {
    if (every > 1 && p % every != every - 1 && p != k - 1) return 0.0;
    const std::int64_t value = random.integer(1, small);
    return double(random.bits() % 2 == 0 ? value : -value);
  };
  if (c.data == GemmData::wide_b) {
    set(b, layout.b, wide);
    set(a, layout.a, [&](std::int64_t, std::int64_t p) { return narrow(p); });
  } else {
    set(a, layout.a, wide);
    set(b, layout.b, [&](std::int64_t p, std::int64_t) { return narrow(p); });
  }
  const std::int64_t most_c = limit / 2 / std::int64_t(std::max(1.0, std::abs(c.beta)));
  if (c.beta != 0.0)
    set(out, layout.c, [&](std::int64_t, std::int64_t) { return double(random.integer(-most_c, most_c)) * scale; });
}

/// NaN and infinities in corners: where partial tiles, padding and the ends of loops are.
template <class T>
void plant(const GuardedArray<T>& array, const MatrixLayout& layout, bool in_a) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  if (layout.span() == 0) return;
  const std::int64_t i = layout.rows - 1, j = layout.columns - 1;
  array[layout.at(0, i, j)] = infinity;
  array[layout.at(0, 0, in_a ? j : 0)] = -infinity;
  if (in_a ? i > 1 : j > 1) array[in_a ? layout.at(0, 1, 0) : layout.at(0, 0, 1)] = nan;
}

}  // namespace

template <class T>
GemmTrial<T>::GemmTrial(const GemmCase& c)
    : name_(c.name),
      desc_(c.desc),
      layout_(layout_of(c.desc)),
      alpha_(T(c.alpha)),
      beta_(T(c.beta)),
      exact_(c.data == GemmData::wide_a || c.data == GemmData::wide_b || c.data == GemmData::denormal),
      null_inputs_(c.data == GemmData::null_a_and_b),
      random_(c.name),
      shift_(random_.integer(0, 3)),
      a_(layout_.a.span(), any_side(random_)),
      b_(layout_.b.span(), any_side(random_)),
      c_(layout_.c.span(), any_side(random_)) {
  desc_.dtype = kDType<T>;
  fill(c);
  a_before_ = a_.copy(), b_before_ = b_.copy(), c_before_ = c_.copy();
  expected_ = gemm_reference<T>(desc_, alpha_, a_.data(), b_.data(), beta_, c_.data(), exact_);
}

template <class T>
void GemmTrial<T>::fill(const GemmCase& c) {
  const auto uniform = [&](std::int64_t, std::int64_t) { return random_.uniform(); };
  switch (c.data) {
    case GemmData::nan_everywhere:
    case GemmData::null_a_and_b:
      set(c_, layout_.c, uniform);
      return;  // A and B stay NaN
    case GemmData::wide_a:
    case GemmData::wide_b:
      fill_integers(c, layout_, a_, b_, c_, kExact<T>, 1.0, random_);
      return;
    case GemmData::denormal: {
      const double least = std::numeric_limits<T>::denorm_min();
      fill_integers(c, layout_, a_, b_, c_, kExact<T> / 4, least, random_);
      return;
    }
    default:
      break;
  }
  set(a_, layout_.a, uniform);
  set(b_, layout_.b, uniform);
  if (c.data == GemmData::nan_and_inf) {
    plant(a_, layout_.a, true);
    plant(b_, layout_.b, false);
  }
  if (c.beta != 0.0 && c.data != GemmData::nan_in_c) set(c_, layout_.c, uniform);  // else C stays NaN
}

template <class T>
std::string GemmTrial<T>::run(Context& context, GemmPlan& plan, Memory memory) {
  const Running running(what_runs(name_, plan));
  std::vector<T> first;
  for (int execution = 0; execution < 2; ++execution) {
    c_.restore(c_before_);
    if (memory == Memory::host) {
      plan.execute(alpha_, null_inputs_ ? nullptr : a_.data(), null_inputs_ ? nullptr : b_.data(), beta_, c_.data());
    } else {
      DeviceArray<T> a(context, a_, shift_), b(context, b_, shift_), c(context, c_, shift_);
      plan.execute(alpha_, null_inputs_ ? nullptr : a.data(), null_inputs_ ? nullptr : b.data(), beta_, c.data());
      context.synchronize();
      if (!a.download(a_) || !b.download(b_)) stop("memory around A or B was written");
      if (!c.download(c_)) stop("memory around C was written");
    }
    if (!a_.same_bits(a_before_) || !b_.same_bits(b_before_)) return "A or B was written";
    if (!c_.surroundings_intact() || !a_.surroundings_intact() || !b_.surroundings_intact())
      stop("memory beside an operand was written");
    if (execution == 0) {
      first = c_.copy();
      if (std::string problem = judge(); !problem.empty()) return problem;
    } else if (!c_.same_bits(first)) {
      return "a second execution gave other bits";
    }
  }
  return "";
}

template <class T>
std::string GemmTrial<T>::judge() const {
  std::vector<T> untouched = c_.copy();
  std::size_t at = 0, wrong = 0;
  std::string first;
  for (std::int64_t l = 0; l < desc_.batch; ++l)
    for (std::int64_t i = 0; i < desc_.m; ++i)
      for (std::int64_t j = 0; j < desc_.n; ++j, ++at) {
        const std::int64_t place = layout_.c.at(l, i, j);
        const Wide<T> bound = exact_ ? 0 : expected_.bound[at];
        untouched[std::size_t(place)] = c_before_[std::size_t(place)];
        if (acceptable<T>(c_[place], expected_.value[at], bound)) continue;
        if (wrong++ == 0)
          first = "C(" + std::to_string(i) + ", " + std::to_string(j) + ") of matrix " + std::to_string(l) + ": " +
                  disagreement<T>(c_[place], expected_.value[at], bound);
      }
  if (wrong > 0) return std::to_string(wrong) + " of " + std::to_string(at) + " elements are wrong; " + first;
  const bool intact =
      untouched.empty() || std::memcmp(untouched.data(), c_before_.data(), untouched.size() * sizeof(T)) == 0;
  return intact ? "" : "an element of the gaps in C was written";
}

template class GemmTrial<float>;
template class GemmTrial<double>;

}  // namespace tessera::test
