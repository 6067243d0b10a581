// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "points.hpp"

#include "../launch.cuh"
#include "program.cuh"

#include <tessera/plugin/system_points.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::cuda {
namespace {

using plugin::SystemProblem;

/// An entry of a list. Entries of one point (of injections) or of one series (of recordings) come together, in the
/// caller's order.
struct SparseEntry {
  std::int64_t byte;  ///< of the point in the field
  std::int64_t series;
  double weight;
};

constexpr unsigned kThreads = 128;
unsigned blocks_for(std::int64_t count) { return unsigned((count + kThreads - 1) / kThreads); }

/// A thread for each point: field[p] += weight * series[i], entry by entry.
template <class T>
__global__ void __launch_bounds__(kThreads)
    system_inject_kernel(const SparseEntry* entries, const std::int64_t* first, std::int64_t count, std::int32_t dtype,
                         const T* series, char* field) {
  const std::int64_t point = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (point >= count) return;
  for (std::int64_t e = first[point]; e < first[point + 1]; ++e) {
    char* const at = field + entries[e].byte;
    store_value(at, dtype, fma(T(entries[e].weight), series[entries[e].series], load_value<T>(at, dtype)));
  }
}

/// A thread for each series: the sum of weight * field[p].
template <class T>
__global__ void __launch_bounds__(kThreads)
    system_record_kernel(const SparseEntry* entries, const std::int64_t* first, std::int64_t count, std::int32_t dtype,
                         const char* field, T* series) {
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  T sum = T(0);
  for (std::int64_t e = first[i]; e < first[i + 1]; ++e)
    sum = fma(T(entries[e].weight), load_value<T>(field + entries[e].byte, dtype), sum);
  series[i] = sum;
}

template <int kBytes>
struct alignas(kBytes) Element {
  char byte[kBytes];
};

struct CopiedLevel {
  std::int64_t extents[3], strides[3];
};

template <int kBytes>
__global__ void __launch_bounds__(kThreads)
    system_level_copy_kernel(const CopiedLevel c, const Element<kBytes>* source, Element<kBytes>* target) {
  const std::int64_t point = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (point >= c.extents[0] * c.extents[1] * c.extents[2]) return;
  const std::int64_t row = point / c.extents[2];
  const std::int64_t at =
      row / c.extents[1] * c.strides[0] + row % c.extents[1] * c.strides[1] + point % c.extents[2] * c.strides[2];
  target[at] = source[at];
}

template <class Body>
void with_size(tessera_dtype dtype, Body&& body) {
  switch (plugin::size_of(dtype)) {
    case 2:
      return body(std::integral_constant<int, 2>());
    case 4:
      return body(std::integral_constant<int, 4>());
    default:
      return body(std::integral_constant<int, 8>());
  }
}

}  // namespace

struct SystemPoints::Table {
  int field, stage, operand;
  tessera_dtype dtype, computed;
  std::int64_t series_count, lists;
  std::unique_ptr<DeviceTable> entries, first;
};

namespace {

/// Lists of entries, one behind the other.
struct Lists {
  std::vector<SparseEntry> entries;
  std::vector<std::int64_t> first{0};

  void add(const std::vector<SparseEntry>& list) {
    entries.insert(entries.end(), list.begin(), list.end());
    first.push_back(std::int64_t(entries.size()));
  }
};

Lists lists_of(const SystemProblem& problem, const SystemProblem::Points& points, bool by_point) {
  const SystemProblem::Field& field = problem.fields[std::size_t(points.field)];
  const auto entry_of = [&field](const SystemProblem::Points::Entry& e) {
    const std::int64_t element =
        e.point[0] * field.strides[0] + e.point[1] * field.strides[1] + e.point[2] * field.strides[2];
    return SparseEntry{element * std::int64_t(plugin::size_of(field.dtype)), e.series, e.weight};
  };
  Lists all;
  if (!by_point) {
    plugin::PointLists sorted = plugin::lists_of_series(points);
    for (const auto& entry : sorted.entries) all.entries.push_back(entry_of(entry));
    all.first = std::move(sorted.first);
    return all;
  }
  std::map<std::int64_t, std::vector<SparseEntry>> lists;
  for (const auto& entry : points.entries) {
    const SparseEntry made = entry_of(entry);
    lists[made.byte].push_back(made);
  }
  for (const auto& [byte, list] : lists) all.add(list);
  return all;
}

}  // namespace

SystemPoints::SystemPoints(Context& context, const SystemProblem& problem) : context_(context) {
  const auto add = [&](const SystemProblem::Points& points, bool injected) {
    const Lists lists = lists_of(problem, points, injected);
    Table table{points.field,
                points.stage,
                points.operand,
                problem.fields[std::size_t(points.field)].dtype,
                problem.dtype,
                points.series_count,
                std::int64_t(lists.first.size()) - 1,
                {},
                {}};
    if (!lists.entries.empty())
      table.entries =
          std::make_unique<DeviceTable>(context, lists.entries.data(), lists.entries.size() * sizeof lists.entries[0]);
    table.first =
        std::make_unique<DeviceTable>(context, lists.first.data(), lists.first.size() * sizeof lists.first[0]);
    (injected ? injections_ : recordings_).push_back(std::move(table));
  };
  for (const SystemProblem::Points& points : problem.injections) add(points, true);
  for (const SystemProblem::Points& points : problem.recordings) add(points, false);
  const DeviceGuard guard(context.device());
  plugin::with_types<plugin::WideTypes>(problem.dtype, []<class T>(std::type_identity<T>) {
    prepare(system_inject_kernel<T>), prepare(system_record_kernel<T>);
  });
}

SystemPoints::~SystemPoints() = default;

bool SystemPoints::any(int stage) const {
  const auto in_stage = [stage](const Table& table) { return table.stage == stage; };
  return std::any_of(injections_.begin(), injections_.end(), in_stage) ||
         std::any_of(recordings_.begin(), recordings_.end(), in_stage);
}

void SystemPoints::run(int stage, std::int64_t step, const plugin::Execution& execution,
                       const plugin::SystemLevels& levels) const {
  const auto each = [&](const std::vector<Table>& tables, auto&& launch_one) {
    for (const Table& table : tables) {
      if (table.stage != stage || table.lists == 0) continue;
      plugin::with_types<plugin::WideTypes>(table.computed, [&]<class T>(std::type_identity<T>) {
        launch_one(table, execution.operand<T>(table.operand) + step * table.series_count,
                   static_cast<char*>(levels.at(table.field, 1, step)),
                   table.entries == nullptr ? nullptr : table.entries->as<const SparseEntry>(),
                   table.first->as<const std::int64_t>());
      });
    }
  };
  each(injections_, [&]<class T>(const Table& t, const T* series, char* field, auto* entries, auto* first) {
    launch(system_inject_kernel<T>, blocks_for(t.lists), kThreads, 0, context_.stream(), entries, first, t.lists,
           t.dtype, series, field);
  });
  each(recordings_, [&]<class T>(const Table& t, T* series, char* field, auto* entries, auto* first) {
    launch(system_record_kernel<T>, blocks_for(t.lists), kThreads, 0, context_.stream(), entries, first, t.lists,
           t.dtype, static_cast<const char*>(field), series);
  });
}

void prepare_levels(Context& context) {
  const DeviceGuard guard(context.device());
  prepare(system_level_copy_kernel<2>), prepare(system_level_copy_kernel<4>), prepare(system_level_copy_kernel<8>);
}

void bring_levels_back(Context& context, const SystemProblem& problem, const plugin::SystemLevels& levels) {
  for (std::size_t f = 0; f < problem.fields.size(); ++f) {
    const plugin::SystemLevels::Leftover left = levels.leftover(int(f), problem.steps);
    if (left.source == nullptr) continue;
    const SystemProblem::Field& field = problem.fields[f];
    const std::int64_t points = problem.extents[0] * problem.extents[1] * problem.extents[2];
    const std::size_t size = plugin::size_of(field.dtype);
    if (field.span(problem.extents) == points) {
      TESSERA_CUDA_CHECK(cudaMemcpyAsync(left.target, left.source, std::size_t(points) * size, cudaMemcpyDeviceToDevice,
                                         context.stream()));
      continue;
    }
    CopiedLevel copied{};
    std::copy_n(problem.extents.begin(), 3, copied.extents);
    std::copy_n(field.strides.begin(), 3, copied.strides);
    with_size(field.dtype, [&](auto bytes) {
      launch(system_level_copy_kernel<bytes>, blocks_for(points), kThreads, 0, context.stream(), copied,
             static_cast<const Element<bytes>*>(left.source), static_cast<Element<bytes>*>(left.target));
    });
  }
}

}  // namespace tessera::cuda
