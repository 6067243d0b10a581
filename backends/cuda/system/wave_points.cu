// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "wave_points.hpp"

#include "../launch.cuh"

#include <tessera/plugin/system_points.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tessera::cuda {
namespace {

using plugin::PointLists;
using plugin::SystemProblem;

constexpr unsigned kThreads = 128;

/// A thread for each series, in each step of the pass: the sum of weight * value, in the order of the entries.
template <class T>
__global__ void __launch_bounds__(kThreads)
    system_wave_sum_kernel(const double* weights, const std::int64_t* first, std::int64_t count, const T* recorded,
                           std::int64_t recordings, T* series) {
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x, step = blockIdx.y;
  if (i >= count) return;
  T sum = T(0);
  for (std::int64_t e = first[i]; e < first[i + 1]; ++e) sum = fma(T(weights[e]), recorded[step * recordings + e], sum);
  series[step * count + i] = sum;
}

/// Lists of points by tile and plane. Entries of a list come in the order in which they are added.
class TileLists {
 public:
  TileLists(const SystemProblem& p, const WaveLayout& layout)
      : layout_(layout), planes_(p.extents[0]), counts_(std::size_t(layout.tiles * (planes_ + 1)), 0) {}

  void add(const SystemProblem::Points::Entry& entry, int set, std::int64_t index) {
    const int x = int(entry.point[2]), y = int(entry.point[1]);
    for (int ty = layout_.y.first_with(y); ty <= layout_.y.last_with(y); ++ty)
      for (int tx = layout_.x.first_with(x); tx <= layout_.x.last_with(x); ++tx) {
        const std::int64_t list = (ty * layout_.x.tiles + tx) * (planes_ + 1) + entry.point[0];
        ++counts_[std::size_t(list)];
        entries_.push_back({list, {x, y, set, index, entry.weight}});
      }
  }
  /// All of them, list by list.
  std::vector<WavePoint> points() {
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.list < b.list; });
    std::vector<WavePoint> points;
    for (const Entry& entry : entries_) points.push_back(entry.point);
    return points;
  }
  /// Where each list begins: for each tile those of its planes, and where the last one ends.
  std::vector<int> first() const {
    std::vector<int> first(counts_.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), first.begin(), 0);
    return first;
  }

 private:
  struct Entry {
    std::int64_t list;
    WavePoint point;
  };
  const WaveLayout& layout_;
  std::int64_t planes_;
  std::vector<int> counts_;
  std::vector<Entry> entries_;
};

template <class Value>
std::unique_ptr<DeviceTable> table_of(Context& context, const std::vector<Value>& values) {
  if (values.empty()) return nullptr;
  return std::make_unique<DeviceTable>(context, values.data(), values.size() * sizeof(Value));
}

}  // namespace

std::int64_t recorded_in_step(const SystemProblem& problem) {
  std::int64_t count = 0;
  for (const SystemProblem::Points& points : problem.recordings) count += std::int64_t(points.entries.size());
  return count;
}

struct WavePoints::Sums {
  Series series;
  std::int64_t begin;  ///< of its entries among all recorded ones
  std::unique_ptr<DeviceTable> weights, first;
};

WavePoints::WavePoints(Context& context, const SystemProblem& problem, const WaveLayout& layout)
    : context_(context), dtype_(problem.dtype), recorded_(recorded_in_step(problem)) {
  TileLists lists(problem, layout);
  for (const SystemProblem::Points& points : problem.injections) {
    for (const auto& entry : points.entries) lists.add(entry, int(injections_.size()), entry.series);
    injections_.push_back({points.operand, points.series_count});
  }
  std::int64_t recorded = 0;
  for (const SystemProblem::Points& points : problem.recordings) {
    const PointLists sorted = plugin::lists_of_series(points);
    std::vector<double> weights;
    Sums sums{{points.operand, points.series_count}, recorded, {}, table_of(context, sorted.first)};
    for (const auto& entry : sorted.entries) {
      lists.add(entry, -1, recorded++);
      weights.push_back(entry.weight);
    }
    sums.weights = table_of(context, weights);
    recordings_.push_back(std::move(sums));
  }
  points_ = table_of(context, lists.points());
  if (points_ != nullptr) first_ = table_of(context, lists.first());
  const DeviceGuard guard(context.device());
  plugin::with_types<plugin::WideTypes>(problem.dtype,
                                        []<class T>(std::type_identity<T>) { prepare(system_wave_sum_kernel<T>); });
}

WavePoints::~WavePoints() = default;

void WavePoints::sum(const void* recorded, int steps, const plugin::Execution& execution,
                     std::int64_t first_step) const {
  for (const Sums& sums : recordings_) {
    if (sums.series.count == 0) continue;
    const dim3 grid(unsigned((sums.series.count + kThreads - 1) / kThreads), unsigned(steps));
    plugin::with_types<plugin::WideTypes>(dtype_, [&]<class T>(std::type_identity<T>) {
      launch(system_wave_sum_kernel<T>, grid, kThreads, 0, context_.stream(),
             sums.weights == nullptr ? nullptr : sums.weights->as<const double>(), sums.first->as<const std::int64_t>(),
             sums.series.count, static_cast<const T*>(recorded) + sums.begin, recorded_,
             execution.operand<T>(sums.series.operand) + first_step * sums.series.count);
    });
  }
}

}  // namespace tessera::cuda
