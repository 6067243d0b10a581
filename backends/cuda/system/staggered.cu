// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Maxwell's equations, elastic waves and others on staggered grids, near the rate of memory: a launch a stage.
#include "staggered.cuh"

#include "../launch.cuh"
#include "model.hpp"
#include "steps_plan.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

using plugin::SystemProblem;

int parts_of(std::int64_t all, std::int64_t size) { return int((all + size - 1) / size); }

constexpr int kStageThreads = 256;

/// Threads of a block along x and y, and rows of points in a panel.
struct StageTile {
  int lanes, rows, panel_rows;
};

/// Whole warps in a row unless a tenth of the threads would stand beside it. Panels: a layer of one, of all arrays, is
/// to stay in the second-level cache until the layers behind have read it.
template <class T>
StageTile stage_tile(int nx, int ny, int arrays, bool aligned) {
  StageTile tile{32, kStageThreads / 32, ny};
  if (aligned) {
    const int vectors = nx / int(16 / sizeof(T));
    double best = 0.0;
    for (const int lanes : {32, 64, parts_of(vectors, parts_of(vectors, 64)), 16, 8}) {
      const int rows = kStageThreads / lanes;
      const double use = double(vectors) / (parts_of(vectors, lanes) * lanes) * ny / (parts_of(ny, rows) * rows) *
                         (lanes * rows) / kStageThreads;
      if (use > best * 1.1) best = use, tile.lanes = lanes, tile.rows = rows;
    }
  }
  constexpr std::int64_t kMostLayer = 7 << 20, kPanel = 7 << 19;  // bytes
  const std::int64_t layer = std::int64_t(nx) * ny * std::int64_t(sizeof(T)) * arrays;
  if (layer > kMostLayer) tile.panel_rows = parts_of(ny, parts_of(layer, kPanel));
  return tile;
}

/// A stage of a radius, with a kernel for rows that are aligned and one for others.
template <class T, int R>
class StageLaunch {
 public:
  StageLaunch(const StaggeredStage& stage, const SystemProblem& problem) : stage_(stage) {
    StageStep<T, R>& s = step_;
    s.nx = int(problem.extents[2]), s.ny = int(problem.extents[1]), s.nz = int(problem.extents[0]);
    s.plane = s.nx * s.ny;
    s.made_count = int(stage.made.size());
    s.difference_count = int(stage.differences.size()), s.factor_count = int(stage.factors.size());
    int groups = 0, list = 0;
    for (std::size_t i = 0; i < stage.made.size(); ++i) {
      const StaggeredStage::Made& m = stage.made[i];
      s.made[i] = {nullptr,
                   T(m.own),
                   {m.low[0], m.low[1], m.low[2]},
                   {m.high[0], m.high[1], m.high[2]},
                   groups,
                   int(m.groups.size())};
      for (const StaggeredStage::Group& g : m.groups) {
        s.groups[groups++] = {T(g.scale), static_cast<signed char>(g.factor), static_cast<signed char>(list),
                              static_cast<signed char>(g.differences.size())};
        for (const int d : g.differences) s.list[list++] = static_cast<signed char>(d);
      }
    }
    for (std::size_t i = 0; i < stage.factors.size(); ++i) s.factors[i] = {nullptr, stage.factors[i].reciprocal};
    for (std::size_t i = 0; i < stage.differences.size(); ++i) {
      const StaggeredStage::Difference& d = stage.differences[i];
      s.differences[i] = {nullptr, {}, d.first, d.axis};
      std::transform(d.taps.begin(), d.taps.begin() + 2 * R, s.differences[i].c, [](double tap) { return T(tap); });
    }
    for (const bool aligned : {false, true}) tiles_[aligned] = stage_tile<T>(s.nx, s.ny, arrays(), aligned);
  }

  void prepare(int shared_limit) const {
    for (const bool aligned : {false, true}) cuda::prepare(kernel(aligned), shared_limit);
  }

  void run(const plugin::SystemLevels& levels, std::int64_t step, cudaStream_t stream) {
    StageStep<T, R> s = step_;
    bool aligned = rows_are_aligned<T>(s.nx, {});
    const auto array = [&](int field, int level) {
      void* const at = levels.at(field, level, step);
      aligned &= rows_are_aligned<T>(s.nx, {at});
      return static_cast<T*>(at);
    };
    for (std::size_t i = 0; i < stage_.made.size(); ++i) s.made[i].at = array(stage_.made[i].field, 0);
    for (std::size_t i = 0; i < stage_.factors.size(); ++i) s.factors[i].array = array(stage_.factors[i].field, 0);
    for (std::size_t i = 0; i < stage_.differences.size(); ++i)
      s.differences[i].field = array(stage_.differences[i].field, stage_.differences[i].level);
    const StageTile& t = tiles_[aligned];
    const int points = aligned ? RowPoints<T, true>::kPoints : RowPoints<T, false>::kPoints;
    const int tiles_y = parts_of(s.ny, t.rows);
    s.tiles_x = parts_of(s.nx, t.lanes * points);
    s.panel = std::min(parts_of(t.panel_rows, t.rows), tiles_y);
    const dim3 grid(unsigned(s.tiles_x * s.panel), unsigned(s.nz), unsigned(parts_of(tiles_y, s.panel)));
    const auto shared = std::size_t(slots(aligned) * t.lanes * t.rows * points) * sizeof(T);
    launch(kernel(aligned), grid, dim3(unsigned(t.lanes), unsigned(t.rows)), shared, stream, s);
  }

 private:
  /// Copies of what is made cost shared memory, so first-level cache: they pay where few slots do.
  bool copies_all() const {
    constexpr int kFew = 10;
    return step_.made_count + step_.difference_count + step_.factor_count <= kFew;
  }
  int slots(bool aligned) const {
    return step_.difference_count + step_.factor_count + (aligned && copies_all() ? step_.made_count : 0);
  }
  /// That the stage reads or makes.
  int arrays() const {
    std::vector<std::pair<int, int>> read;
    for (const StaggeredStage::Difference& d : stage_.differences)
      if (std::find(read.begin(), read.end(), std::pair(d.field, d.level)) == read.end())
        read.emplace_back(d.field, d.level);
    return int(read.size() + stage_.made.size() + stage_.factors.size());
  }

  using Kernel = void (*)(StageStep<T, R>);
  /// Those that measured best on an H100.
  Kernel kernel(bool aligned) const {
    constexpr bool kWide = sizeof(T) == 8;
    constexpr int kBatch = kWide && R == 2 ? 2 : 3, kBlocksApart = !kWide ? 4 : R == 1 ? 3 : 2;
    if (!aligned) return system_stage_kernel < T, R, false, kNone, R == 1 ? 3 : 2, kStageThreads, kBlocksApart > ;
    return copies_all() ? system_stage_kernel<T, R, true, kAll, kBatch, kStageThreads, 4>
                        : system_stage_kernel<T, R, true, kFactors, kBatch, kStageThreads, 4>;
  }

  StaggeredStage stage_;
  StageStep<T, R> step_{};
  StageTile tiles_[2];  ///< for rows that are not aligned, and that are
};

template <class T>
class StaggeredPlan final : public SystemStepsPlan {
 public:
  StaggeredPlan(Context& context, const SystemProblem& problem, const std::vector<StaggeredStage>& stages)
      : SystemStepsPlan(context, problem) {
    const DeviceGuard guard(context.device());
    for (const StaggeredStage& stage : stages) {
      if (stage.radius == 1)
        launches_.push_back({stage.stage, std::make_unique<StageLaunch<T, 1>>(stage, problem), nullptr});
      else
        launches_.push_back({stage.stage, nullptr, std::make_unique<StageLaunch<T, 2>>(stage, problem)});
      launches_.back().prepare(context.machine().shared_per_block);
    }
  }

 private:
  void make(int stage, std::int64_t step) override {
    for (Launch& one : launches_)
      if (one.stage == stage) one.run(levels(), step, context().stream());
  }

  /// A stage of one of both radii.
  struct Launch {
    int stage;
    std::unique_ptr<StageLaunch<T, 1>> near;
    std::unique_ptr<StageLaunch<T, 2>> far;

    void prepare(int shared_limit) const {
      if (near != nullptr)
        near->prepare(shared_limit);
      else
        far->prepare(shared_limit);
    }
    void run(const plugin::SystemLevels& levels, std::int64_t step, cudaStream_t stream) {
      if (near != nullptr)
        near->run(levels, step, stream);
      else
        far->run(levels, step, stream);
    }
  };

  std::vector<Launch> launches_;
};

std::string why_unsupported(const SystemProblem& p, const Machine&) {
  std::string why;
  if (staggered_of(p, why).empty()) return why;
  return why_not_in_rows(p);
}

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  constexpr double kRate = 0.92;  // of a copy, as an H100 shows in domains of 256^3 to 768^3
  offers.add({{}, rows_at_rate_seconds(machine, p, kRate), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  std::string why;
  const auto stages = staggered_of(p, why);
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<StaggeredPlan<T>>(context, p, stages);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{{"staggered", why_unsupported, offer, make}, 3};

}  // namespace
}  // namespace tessera::cuda
