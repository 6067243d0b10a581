// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The CUDA algorithm "temporal" of systems on an emulated device: passes of several steps compute the very bits of
/// single steps, whatever the order of threads and the time of copies. Domains, tiles, chunks and points by chance,
/// once for each type and form; three times where TESSERA_TEST_ALL is 1.

#include "device.hpp"
#include "random.hpp"

#include <temporal.cuh>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cuda {

alignas(128) unsigned char memory[128];  // the kernel's name for its shared memory, which is the device's

}  // namespace tessera::cuda

namespace tessera::test {

namespace {

using cuda::StarForm;
using cuda::WavePass;
using cuda::WavePoint;

/// An array that begins at a multiple of 16 bytes, or an element behind one.
template <class T>
class Grid {
 public:
  Grid(std::size_t size, bool aligned) : memory_(std::make_unique<T[]>(size + 32)), size_(size) {
    const std::size_t late = reinterpret_cast<std::uintptr_t>(memory_.get()) % 16 / sizeof(T);
    data_ = memory_.get() + (16 / sizeof(T) - late) + (aligned ? 0 : 1);
  }
  T* data() { return data_; }
  std::vector<T> values() const { return {data_, data_ + size_}; }

 private:
  std::unique_ptr<T[]> memory_;
  std::size_t size_;
  T* data_;
};

/// One system with its data, its single steps, and its passes.
template <class T, int kRadius, StarForm kForm>
class Trial {
  static constexpr bool kOther = has_other(kForm);

 public:
  explicit Trial(int number)
      : random_("emulated " + std::to_string(number) + " " + std::to_string(kRadius) + std::to_string(int(kForm))),
        number_(number),
        extents_{integer(1, number % 5 == 0 ? 60 : 20), integer(1, number % 3 == 0 ? 130 : 60),
                 number % 2 == 0 ? integer(1, 150) : 4 * integer(1, 40)},
        steps_(integer(1, 9)),
        aligned_(number % 7 != 3),
        u_(points(), aligned_),
        v_(points(), aligned_),
        a_(points(), aligned_),
        newest_(points(), aligned_),
        previous_(points(), aligned_) {
    fill();
  }

  /// "" or what is wrong.
  std::string run() {
    const std::vector<T> u = u_.values(), v = v_.values();
    expect(u, v);
    passes();
    const bool back = passes_count_ % 2 == 0;
    if ((back ? u_ : newest_).values() != expected_[0]) return "the newest level differs";
    if (kOther && (back ? v_ : previous_).values() != expected_[1]) return "the level before it differs";
    return recorded_ == expected_recorded_ ? "" : "recordings differ";
  }
  std::string text() const {
    return "domain " + std::to_string(extents_[0]) + " x " + std::to_string(extents_[1]) + " x " +
           std::to_string(extents_[2]) + ", steps " + std::to_string(steps_) + ", number " + std::to_string(number_);
  }

 private:
  std::int64_t integer(std::int64_t low, std::int64_t high) { return random_.integer(low, high); }
  std::size_t points() const { return std::size_t(extents_[0] * extents_[1] * extents_[2]); }
  std::size_t at(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return std::size_t((z * extents_[1] + y) * extents_[2] + x);
  }

  void fill() {
    for (std::size_t i = 0; i < points(); ++i) {
      u_.data()[i] = T(random_.uniform()), v_.data()[i] = T(random_.uniform());
      a_.data()[i] = T(0.1 * random_.uniform());
    }
    star_.form = kForm, star_.radius = kRadius;
    star_.centre[0] = 1.7, star_.centre[1] = random_.uniform(), star_.other_coefficient = -0.8;
    for (auto& axis : star_.taps)
      for (double& tap : axis) tap = 0.05 * random_.uniform();
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (number_ % 3 != 0 && integer(0, 3) != 0)
        for (std::int64_t i = 0; i < extents_[axis]; ++i) profiles_[axis].push_back(T(0.9 + 0.1 * random_.uniform()));
    const std::int64_t count = number_ % 2 == 0 ? 0 : integer(1, 12);
    for (std::int64_t i = 0; i < count; ++i) {
      points_.push_back(some_point(0, integer(0, kSeries - 1)));
      if (i % 3 == 0) points_.push_back(points_.back());  // twice
    }
    for (std::int64_t i = 0; i < count; ++i) points_.push_back(some_point(-1, i));
    recordings_ = count;
    for (std::int64_t i = 0; i < steps_ * kSeries; ++i) series_.push_back(T(random_.uniform()));
  }
  struct Point {
    std::array<std::int64_t, 3> place;
    WavePoint point;
  };
  /// Often at a side, or where tiles meet.
  Point some_point(int set, std::int64_t index) {
    Point p{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::array<std::int64_t, 5> places{0, extents_[axis] - 1, integer(24, 36), integer(48, 63),
                                               integer(0, extents_[axis] - 1)};
      p.place[axis] = std::min(places[std::size_t(integer(0, 4))], extents_[axis] - 1);
    }
    p.point = {int(p.place[2]), int(p.place[1]), set, index, set < 0 ? 1.0 : random_.uniform()};
    return p;
  }

  // ---- Single steps

  void expect(std::vector<T> u, std::vector<T> v) {
    for (std::int64_t step = 0; step < steps_; ++step) {
      std::vector<T> next = u;
      for (std::int64_t z = kRadius; z < extents_[0] - kRadius; ++z)
        for (std::int64_t y = kRadius; y < extents_[1] - kRadius; ++y)
          for (std::int64_t x = kRadius; x < extents_[2] - kRadius; ++x) next[at(z, y, x)] = value(u, v, z, y, x);
      for (const Point& p : points_) {
        T& value = next[at(p.place[0], p.place[1], p.place[2])];
        if (p.point.set < 0)
          expected_recorded_.push_back(value);
        else
          value = std::fma(T(p.point.weight), series_[std::size_t(step * kSeries + p.point.index)], value);
      }
      v = std::exchange(u, next);
    }
    expected_ = {u, v};
  }
  T value(const std::vector<T>& u, const std::vector<T>& v, std::int64_t z, std::int64_t y, std::int64_t x) {
    const std::size_t here = at(z, y, x);
    const std::array<std::int64_t, 3> distance{extents_[1] * extents_[2], extents_[2], 1};
    T star = T(star_.centre[1]) * u[here];
    for (const std::size_t axis : {0u, 2u, 1u})
      for (int j = 0; j < 2 * kRadius; ++j) {
        const int offset = j < kRadius ? j - kRadius : j - kRadius + 1;
        star = std::fma(T(star_.taps[axis][j]), u[std::size_t(std::int64_t(here) + offset * distance[axis])], star);
      }
    T sum = has_array(kForm) ? T(star_.centre[0]) * u[here] : star;
    if (kOther) sum = std::fma(T(star_.other_coefficient), v[here], sum);
    if (has_array(kForm)) sum = std::fma(a_.data()[here], star, sum);
    const auto profile = [&](std::size_t axis, std::int64_t i) {
      return profiles_[axis].empty() ? T(1) : profiles_[axis][std::size_t(i)];
    };
    return sum * (profile(2, x) * profile(1, y) * profile(0, z));
  }

  // ---- Passes

  void passes() {
    const cuda::WavePasses passes(steps_, integer(1, cuda::wave_depth<T>(kRadius)));
    passes_count_ = passes.count;
    WavePass<T> pass = cuda::wave_pass<T>(star_, extents_);
    pass.layout = cuda::wave_layout<T>(extents_, kRadius, passes.deepest(), cuda::machine_of(cuda::kH100));
    if (number_ % 4 == 0) {
      pass.layout.planes = int(integer(1, extents_[0]));
      pass.layout.chunks = int((extents_[0] + pass.layout.planes - 1) / pass.layout.planes);
    }
    pass.a = a_.data();
    for (std::size_t axis = 0; axis < 3; ++axis)
      pass.profiles[2 - axis] = profiles_[axis].empty() ? nullptr : profiles_[axis].data();
    list_points(pass);
    for (std::int64_t i = 0; i < passes.count; ++i) {
      const bool back = i % 2 != 0;
      pass.u = (back ? newest_ : u_).data(), pass.newest = (back ? u_ : newest_).data();
      if (kOther) pass.v = (back ? previous_ : v_).data(), pass.previous = (back ? v_ : previous_).data();
      pass.depth = passes.depth(i);
      pass.series[0] = {series_.data() + passes.begin(i) * kSeries, kSeries};
      std::vector<T> recorded(std::size_t(pass.depth * recordings_));
      pass.recorded = recorded.data();
      launch(pass);
      recorded_.insert(recorded_.end(), recorded.begin(), recorded.end());
    }
  }
  void list_points(WavePass<T>& pass) {
    if (points_.empty()) return;
    const cuda::WaveLayout& layout = pass.layout;
    for (int tile = 0; tile < layout.tiles; ++tile) {
      const int tx = tile % layout.x.tiles, ty = tile / layout.x.tiles;
      for (std::int64_t z = 0; z <= extents_[0]; ++z) {
        first_.push_back(int(listed_.size()));
        for (const Point& p : points_)
          if (p.place[0] == z && tx >= layout.x.first_with(p.point.x) && tx <= layout.x.last_with(p.point.x) &&
              ty >= layout.y.first_with(p.point.y) && ty <= layout.y.last_with(p.point.y))
            listed_.push_back(p.point);
      }
    }
    pass.points = listed_.data(), pass.first = first_.data(), pass.recordings = recordings_;
  }
  void launch(const WavePass<T>& pass) {
    const bool profiles = std::any_of(std::begin(pass.profiles), std::end(pass.profiles), [](auto* p) { return p; });
    if (!is_aligned(pass))
      run_kernel<cuda::WaveBlock<T, kRadius, kForm, false, true>>(pass);
    else if (profiles)
      run_kernel<cuda::WaveBlock<T, kRadius, kForm, true, true>>(pass);
    else
      run_kernel<cuda::WaveBlock<T, kRadius, kForm, true, false>>(pass);
  }
  template <class Block>
  void run_kernel(const WavePass<T>& pass) {
    const emulation::Schedule schedule{emulation::Schedule::Order(integer(0, 2)), integer(0, 1) == 1};
    emulation::Device::instance().run({unsigned(pass.layout.tiles), unsigned(pass.layout.chunks)},
                                      Block::Tile::kThreads, Block::kSharedBytes, schedule,
                                      [&] { cuda::system_temporal_kernel<Block>(pass); });
  }

  static constexpr std::int64_t kSeries = 3;
  Random random_;
  int number_;
  std::array<std::int64_t, 3> extents_;
  std::int64_t steps_;
  bool aligned_;
  Grid<T> u_, v_, a_, newest_, previous_;
  cuda::StarSystem star_{};
  std::array<std::vector<T>, 3> profiles_;  ///< by axis, the first one first; empty: none
  std::vector<Point> points_;
  std::int64_t recordings_ = 0, passes_count_ = 0;
  std::vector<T> series_, recorded_, expected_recorded_;
  std::vector<WavePoint> listed_;
  std::vector<int> first_;
  std::array<std::vector<T>, 2> expected_;
};

template <class T, int kRadius, StarForm kForm>
void try_form(int number) {
  Trial<T, kRadius, kForm> trial(number);
  CAPTURE(int(kForm), trial.text(), seed());
  REQUIRE(trial.run() == "");
}

template <class TypeValue, int kRadiusValue>
struct Star {
  using T = TypeValue;
  static constexpr int kRadius = kRadiusValue;
};

}  // namespace

TEMPLATE_TEST_CASE("passes of several steps compute the bits of single steps", "[emulation]", (Star<float, 1>),
                   (Star<float, 2>), (Star<float, 3>), (Star<double, 1>), (Star<double, 2>)) {
  using T = typename TestType::T;
  constexpr int kRadius = TestType::kRadius;
  const char* const all = std::getenv("TESSERA_TEST_ALL");
  const int first = int(seed() % 60), count = all != nullptr && all == std::string_view("1") ? 3 : 1;
  for (int number = first; number < first + count; ++number) {
    try_form<T, kRadius, StarForm::heat>(number);
    try_form<T, kRadius, StarForm::wave>(number + 1);
    try_form<T, kRadius, StarForm::heat_medium>(number + 2);
    try_form<T, kRadius, StarForm::wave_medium>(number + 3);
  }
}

}  // namespace tessera::test
