// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The CUDA algorithms "dense" and "separable" on an emulated device: boxes of taps, domains, sides, strides and places
/// in memory by chance, whatever the order of threads and the time of copies. More of them where TESSERA_TEST_ALL is 1.

#include <cuda_runtime.h>

#include "../unit/problems.hpp"
#include "device.hpp"
#include "random.hpp"

#include <dense.cuh>
#include <separable.cuh>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cuda {
namespace {

alignas(128) unsigned char memory[1 << 18];  // the kernels' name for shared memory: results go by way of it

}  // namespace
}  // namespace tessera::cuda

namespace tessera::test {

namespace {

using plugin::kAxes;

/// A sweep with its data.
template <class T>
class Sweep {
  using S = Scalar<T>;

 public:
  Sweep(int number, bool separable, bool several)
      : random_("box " + std::to_string(number) + (separable ? (several ? " t" : " s") : " d")),
        separable_(separable),
        exact_(!several && number % 3 != 0),
        problem_(described(number, several)) {
    fill();
  }

  const plugin::StencilProblem& problem() const { return problem_; }
  std::int64_t integer(std::int64_t low, std::int64_t high) { return random_.integer(low, high); }

  std::string text() const {
    std::string text = "extents, taps, first";
    const plugin::TapBox box = plugin::filled_box(problem_.taps).value();
    for (std::size_t axis = 0; axis < kAxes; ++axis)
      text += " | " + std::to_string(problem_.domain.extents[axis]) + ", " + std::to_string(box.count[axis]) + ", " +
              std::to_string(box.first[axis]) + ", modes " + std::to_string(problem_.domain.mode[axis][0]) + " " +
              std::to_string(problem_.domain.mode[axis][1]) + ", strides " + std::to_string(problem_.in_strides[axis]) +
              " " + std::to_string(problem_.out_strides[axis]);
    return text + ", late " + std::to_string(late_);
  }

  /// Runs a kernel with its layout and taps: "" or what is wrong.
  template <class Layout, class Kernel>
  std::string run(const Layout& l, const std::vector<S>& taps, int threads, Kernel&& kernel) {
    cuda::BoxArguments<T, Layout> g(problem_, l, taps.data());
    g.set_arrays(source_.data() + late_, problem_.in_strides, problem_.out_strides, problem_.dtype, l.first_cell());
    const emulation::Schedule schedule{emulation::Schedule::Order(integer(0, 2)), integer(0, 1) == 1};
    const emulation::Extent grid{unsigned(l.tiles[2]), unsigned(l.tiles[1]), unsigned(l.tiles[0])};
    std::vector<T> target(target_size_ + 16, T(S(77)));
    emulation::Device::instance().run(grid, threads, std::uint32_t(l.shared_bytes()), schedule,
                                      [&] { kernel(g, source_.data() + late_, target.data() + late_); });
    return check(target);
  }

 private:
  plugin::StencilProblem described(int number, bool several) {
    tessera_stencil_desc desc{};
    desc.struct_size = sizeof desc, desc.op = TESSERA_OP_STENCIL;
    desc.dtype = tessera_dtype(kDType<T>), desc.compute = TESSERA_COMPUTE_STRICT;
    desc.rank = several ? 2 : std::int32_t(number % (separable_ ? 2 : 3)) + (separable_ ? 2 : 1);
    desc.steps = 1;
    std::int64_t in_stride = 1, out_stride = 1;
    for (int axis = desc.rank - 1; axis >= 0; --axis) {
      const bool last = axis == desc.rank - 1;
      const std::int64_t most = desc.rank == 1 ? 6000 : last ? 230 : desc.rank == 2 ? 120 : 30;
      desc.extents[axis] = integer(0, 3) == 0 ? integer(1, 9) : integer(1, most);
      if (integer(0, 1) == 0) desc.extents[axis] = plugin::round_up(desc.extents[axis], std::int64_t(8));
      desc.in_strides[axis] = in_stride, desc.out_strides[axis] = out_stride;
      in_stride = in_stride * desc.extents[axis] + (last ? padding() : 0);
      out_stride = out_stride * desc.extents[axis] + (last ? padding() : 0);
      for (int side = 0; side < 2; ++side) {
        desc.boundary[axis][side] = std::int32_t(integer(TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_MIRROR));
        desc.boundary_value[axis][side] = double(integer(-3, 3));
      }
      const bool around = desc.boundary[axis][0] == TESSERA_BOUNDARY_PERIODIC;
      if (around || desc.boundary[axis][1] == TESSERA_BOUNDARY_PERIODIC)
        desc.boundary[axis][0] = desc.boundary[axis][1] = TESSERA_BOUNDARY_PERIODIC;
    }
    make_taps(desc.rank, several);
    desc.taps = taps_.data(), desc.tap_size = sizeof taps_[0], desc.tap_count = std::int64_t(taps_.size());
    return plugin::StencilProblem(reinterpret_cast<const tessera_desc*>(&desc));
  }
  /// Rows are often whole vectors apart.
  std::int64_t padding() { return integer(0, 1) == 0 ? 0 : integer(0, 1) == 0 ? 8 * integer(1, 2) : integer(1, 7); }

  double number(bool exact) {
    return exact ? double(2 * integer(0, 1) - 1) * double(integer(1, 2)) : random_.uniform();
  }
  void make_taps(int rank, bool several) {
    std::array<std::int64_t, TESSERA_MAX_RANK> count{1, 1, 1}, first{};
    for (int axis = 0; axis < rank; ++axis) {
      const std::int64_t most = rank == 1 ? 60 : rank == 2 ? 19 : 8;
      count[std::size_t(axis)] = integer(several      ? 6
                                         : separable_ ? 2
                                                      : 1,
                                         integer(0, 1) == 0 ? std::min<std::int64_t>(9, most) : most);
      first[std::size_t(axis)] = integer(0, 2) == 0 ? integer(-9, 3) : -(count[std::size_t(axis)] / 2);
    }
    std::vector<std::array<std::vector<double>, TESSERA_MAX_RANK>> terms(several ? 2 : 1);
    for (auto& term : terms)
      for (std::size_t axis = 0; axis < term.size(); ++axis)
        for (std::int64_t i = 0; i < count[axis]; ++i)
          // Of several terms the taps are not much smaller.
          term[axis].push_back(several ? 1.5 + 0.5 * random_.uniform() : number(exact_));
    for (std::int64_t i = 0; i < count[0]; ++i)
      for (std::int64_t j = 0; j < count[1]; ++j)
        for (std::int64_t k = 0; k < count[2]; ++k) {
          double tap = 0.0;
          for (const auto& term : terms)
            tap += term[0][std::size_t(i)] * term[1][std::size_t(j)] * term[2][std::size_t(k)];
          taps_.push_back({{first[0] + i, first[1] + j, first[2] + k}, separable_ ? tap : number(exact_)});
        }
  }

  void fill() {
    std::int64_t in = 1, out = 1;
    for (int axis = 0; axis < kAxes; ++axis) {
      in += (problem_.domain.extents[axis] - 1) * problem_.in_strides[std::size_t(axis)];
      out += (problem_.domain.extents[axis] - 1) * problem_.out_strides[std::size_t(axis)];
    }
    late_ = integer(0, 2) == 0 ? integer(1, 7) : 0;
    source_.resize(std::size_t(in) + 16), target_size_ = std::size_t(out);
    for (T& element : source_) element = T(S(exact_ ? double(integer(-4, 4)) : random_.uniform()));
  }

  std::string check(const std::vector<T>& target) const {
    std::vector<T> left = target;  // whose points are taken away
    const plugin::Domain& d = problem_.domain;
    for (std::int64_t z = 0; z < d.extents[0]; ++z)
      for (std::int64_t y = 0; y < d.extents[1]; ++y)
        for (std::int64_t x = 0; x < d.extents[2]; ++x) {
          const std::size_t at = std::size_t(late_ + offset(problem_.out_strides, z, y, x));
          if (!right(double(S(target[at])), z, y, x))
            return "point " + std::to_string(z) + ", " + std::to_string(y) + ", " + std::to_string(x) + " is " +
                   std::to_string(double(S(target[at]))) + " instead of " + std::to_string(sum_at(z, y, x).value);
          left[at] = T(S(77));
        }
    const bool kept = std::all_of(left.begin(), left.end(), [](T element) { return S(element) == S(77); });
    return kept ? "" : "elements between the points changed";
  }
  struct Sum {
    double value, magnitude;
  };
  /// Of a point that keeps its value: this one.
  Sum sum_at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const plugin::Domain& d = problem_.domain;
    const auto element = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return double(S(source_[std::size_t(late_ + offset(problem_.in_strides, i, j, k))]));
    };
    if (d.frozen(z, y, x)) return {element(z, y, x), 0.0};
    Sum sum{0.0, 0.0};
    for (const plugin::Tap& tap : problem_.taps) {
      const plugin::Sample s = d.sample(z + tap.offset[0], y + tap.offset[1], x + tap.offset[2]);
      const double value = s.constant ? double(S(s.value)) : element(s.index[0], s.index[1], s.index[2]);
      sum.value += tap.coefficient * value, sum.magnitude += std::abs(tap.coefficient * value);
    }
    return sum;
  }
  bool right(double computed, std::int64_t z, std::int64_t y, std::int64_t x) const {
    const Sum sum = sum_at(z, y, x);
    // Sums of f32 take (taps + 2) roundings, the reference's own of f64 as many; of integers they are exact.
    constexpr double kUnit = double(std::numeric_limits<S>::epsilon()) / 2.0;
    const double bound = exact_ ? 0.0 : 2.0 * (double(problem_.taps.size()) + 2.0) * kUnit * sum.magnitude;
    return double(S(T(S(sum.value - bound)))) <= computed && computed <= double(S(T(S(sum.value + bound))));
  }
  static std::int64_t offset(const plugin::Index3& strides, std::int64_t z, std::int64_t y, std::int64_t x) {
    return z * strides[0] + y * strides[1] + x * strides[2];
  }

  Random random_;
  bool separable_, exact_;
  std::vector<tessera_tap> taps_;
  plugin::StencilProblem problem_;
  std::int64_t late_ = 0;  ///< elements from a multiple of 16 bytes to the first point
  std::vector<T> source_;
  std::size_t target_size_ = 0;
};

int trials(int count) {
  const char* const all = std::getenv("TESSERA_TEST_ALL");
  return all != nullptr && all == std::string_view("1") ? 10 * count : count;
}
int first_number() { return int(seed() % 1000); }

template <class Points, cuda::DenseRow kRow, class T>
std::string run_dense(Sweep<T>& sweep, const cuda::DenseLayout& l) {
  return sweep.run(l, cuda::dense_taps<Points>(sweep.problem(), l), l.threads,
                   [](const auto& g, const T* source, T* target) {
                     cuda::stencil_dense_kernel<Points, kRow, T>(g, source, target);
                   });
}
template <class Points, class T>
std::string run_dense(Sweep<T>& sweep, const cuda::DenseLayout& l) {
  if (Points::kRows > 1 && l.row == cuda::DenseRow::kPartFirst)
    return run_dense<Points, cuda::DenseRow::kPartFirst>(sweep, l);
  if (Points::kRows > 1 && l.row == cuda::DenseRow::kOneMore)
    return run_dense<Points, cuda::DenseRow::kOneMore>(sweep, l);
  return run_dense<Points, cuda::DenseRow::kAny>(sweep, l);
}

template <class T>
std::string try_dense(Sweep<T>& sweep) {
  using S = Scalar<T>;
  const plugin::StencilProblem& p = sweep.problem();
  const int warps = p.rank == 1 || sweep.integer(0, 1) == 0 ? 4 : 2;
  const auto l = cuda::dense_layout(p, cuda::machine_of(cuda::kH100), warps * 32);
  if (!l) return "no layout";
  if (p.rank == 1) return run_dense<cuda::DenseLine<S>>(sweep, *l);
  return l->depth > 1 ? run_dense<cuda::DensePlanes<S>>(sweep, *l) : run_dense<cuda::DenseRows<S>>(sweep, *l);
}

template <bool kVolume, class T>
std::string run_separable(Sweep<T>& sweep, const plugin::TapTerms& terms, const cuda::SeparableLayout& l) {
  return sweep.run(
      l, cuda::separable_taps<Scalar<T>>(terms, l), cuda::kSeparableThreads,
      [](const auto& g, const T* source, T* target) { cuda::stencil_separable_kernel<kVolume, T>(g, source, target); });
}

template <class T>
std::string try_separable(Sweep<T>& sweep, const plugin::TapTerms& terms) {
  const auto l = cuda::separable_layout(sweep.problem(), cuda::machine_of(cuda::kH100), terms, sweep.integer(1, 5));
  if (!l) return "no layout";
  return l->march == 0 ? run_separable<true>(sweep, terms, *l) : run_separable<false>(sweep, terms, *l);
}

/// Tries so many sweeps whose taps are found to be products, or sums of several. Products of few taps that are no
/// integers often are not, within their rounding.
template <class T>
void try_separable(int count, bool several) {
  int found = 0;
  for (int i = 0; found < count; ++i) {
    REQUIRE(i < 4 * count + 20);
    Sweep<T> sweep(first_number() + i, true, several);
    const auto terms = plugin::tap_terms(sweep.problem());
    if (!terms || (terms->count() > 1) != several) continue;
    ++found;
    CAPTURE(i, sweep.text(), seed());
    REQUIRE(try_separable(sweep, *terms) == "");
  }
}

}  // namespace

TEMPLATE_TEST_CASE("dense sums boxes of taps", "[emulation]", float, double, float16, bfloat16) {
  for (int i = 0; i < trials(12); ++i) {
    Sweep<TestType> sweep(first_number() + i, false, false);
    CAPTURE(i, sweep.text(), seed());
    REQUIRE(try_dense(sweep) == "");
  }
}

TEMPLATE_TEST_CASE("separable sums products of factors", "[emulation]", float, double, float16, bfloat16) {
  try_separable<TestType>(trials(8), false);
}

TEMPLATE_TEST_CASE("separable sums sums of products", "[emulation]", float, double, bfloat16) {
  try_separable<TestType>(trials(4), true);
}

TEST_CASE("a block of separable marches past 2^20 rows", "[emulation]") {
  if (trials(1) == 1) SKIP("takes seconds: TESSERA_TEST_ALL=1 runs it");
  const std::int64_t rows = (std::int64_t(1) << 20) + 50;
  auto taps = neighbours(2, 1, true);
  for (tessera_tap& tap : taps) tap.coefficient = 1.0;
  const plugin::StencilProblem p = packed_stencil(TESSERA_F32, {rows, 4}, taps, TESSERA_BOUNDARY_PERIODIC);
  const plugin::TapTerms terms = plugin::tap_terms(p).value();
  const auto l = cuda::separable_layout(p, cuda::machine_of(cuda::kH100), terms, rows).value();
  REQUIRE(l.tiles[1] == 1);
  const std::vector<float> factors = cuda::separable_taps<float>(terms, l), source(std::size_t(4 * rows), 1.0f);
  std::vector<float> target(source.size());
  cuda::BoxArguments<float, cuda::SeparableLayout> g(p, l, factors.data());
  g.set_arrays(source.data(), p.in_strides, p.out_strides, p.dtype, l.first_cell());
  emulation::Device::instance().run({1, 1, 1}, cuda::kSeparableThreads, std::uint32_t(l.shared_bytes()), {}, [&] {
    cuda::stencil_separable_kernel<false, float>(g, source.data(), target.data());
  });
  CHECK(std::count(target.begin(), target.end(), 9.0f) == 4 * rows);
}

}  // namespace tessera::test
