// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Systems of all kinds: each value an ordinary load, each stage a launch or some.
#include "compact.cuh"

#include "../launch.cuh"
#include "model.hpp"
#include "program_builder.hpp"
#include "steps_plan.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <memory>

namespace tessera::cuda {
namespace {

using plugin::SystemProblem;

template <class T>
class DirectPlan final : public SystemStepsPlan {
 public:
  DirectPlan(Context& context, const SystemProblem& problem)
      : SystemStepsPlan(context, problem), fields_(table_of(places_of(problem))) {
    for (const int stage : problem.stages) {
      Stage& made = stages_.emplace_back();
      made.number = stage;
      for (const std::vector<int>& fields : launches_of(problem, stage))
        made.launches.push_back(launch_of(stage, fields));
    }
    const DeviceGuard guard(context.device());
    for (const Stage& stage : stages_)
      for (const Launch& one : stage.launches) prepare(one.kernel), prepare(one.compact_kernel);
  }

 private:
  void make(int stage, std::int64_t step) override {
    for (Stage& one : stages_)
      if (one.number == stage)
        for (Launch& launch : one.launches) launch.run(levels(), step, context().stream());
  }

  struct Launch {
    dim3 grid, block;
    std::vector<ArrayOf> arrays;
    std::unique_ptr<DeviceTable> records, offsets, boxes;
    /// Either the one kernel with its arguments, or the other.
    void (*kernel)(DirectLaunch<T>);
    std::unique_ptr<DirectLaunch<T>> arguments;
    void (*compact_kernel)(CompactLaunch<T>);
    std::unique_ptr<CompactLaunch<T>> compact;

    void run(const plugin::SystemLevels& levels, std::int64_t step, cudaStream_t stream) {
      void** const targets = compact != nullptr ? compact->arrays : arguments->arrays;
      for (std::size_t i = 0; i < arrays.size(); ++i) targets[i] = levels.at(arrays[i].field, arrays[i].level, step);
      if (compact != nullptr)
        launch(compact_kernel, grid, block, 0, stream, *compact);
      else
        launch(kernel, grid, block, 0, stream, *arguments);
    }
  };
  struct Stage {
    int number;
    std::vector<Launch> launches;
  };

  template <class Item>
  std::unique_ptr<DeviceTable> table_of(const std::vector<Item>& items) {
    return std::make_unique<DeviceTable>(context(), items.data(), items.size() * sizeof(Item));
  }

  Launch launch_of(int stage, const std::vector<int>& fields) {
    const Program<T> program = program_of<T>(problem(), stage, fields);
    Launch made{};
    made.block = block_shape();
    made.arrays = program.arrays;
    made.records = table_of(program.records), made.offsets = table_of(program.offsets);
    made.boxes = table_of(program.boxes);
    NearBoundary<T> near{};
    std::copy_n(problem().extents.begin(), 3, near.extents);
    near.records = made.records->template as<const Record<T>>();
    near.offsets = made.offsets->template as<const RecordOffset>();
    near.boxes = made.boxes->template as<const UpdateBox>();
    near.fields = fields_->as<const FieldPlace>();
    const SystemProblem::Field& common = problem().fields[std::size_t(problem().updates.front().field)];
    std::int64_t strides[3];
    const auto element = std::int64_t(plugin::size_of(common.dtype));
    for (std::size_t axis = 0; axis < 3; ++axis) strides[axis] = common.strides[axis] * element;
    const std::int64_t across = tiles(problem().extents[2], made.block.x * kDirectPoints<T>);
    const std::int64_t rows = tiles(problem().extents[1], made.block.y);
    made.grid = dim3(unsigned(across * rows * tiles(problem().extents[0], made.block.z)));
    made.kernel = kernel_for(program);
    made.compact_kernel = compact_kernel_for(program.made.size());
    auto compact = std::make_unique<CompactLaunch<T>>();
    if (make_compact(program, near, strides, common.span(problem().extents) * element, *compact)) {
      compact->tiles[0] = int(across), compact->tiles[1] = int(rows);
      made.compact = std::move(compact);
      return made;
    }
    made.arguments = std::make_unique<DirectLaunch<T>>();
    DirectLaunch<T>& a = *made.arguments;
    a.near = near;
    a.tiles[0] = across, a.tiles[1] = rows;
    std::copy_n(strides, 3, a.strides);
    a.point_step = made.block.x * strides[2];
    a.made_count = int(program.made.size());
    std::copy(program.made.begin(), program.made.end(), a.made);
    return made;
  }

  static std::int64_t tiles(std::int64_t extent, unsigned size) { return (extent + size - 1) / std::int64_t(size); }

  /// Threads along the axes that there are. Cubes share most of what their points read.
  dim3 block_shape() const {
    const auto& n = problem().extents;
    const auto room = [](std::int64_t extent, unsigned most) {
      unsigned size = 1;
      while (size < most && std::int64_t(size) < extent) size *= 2;
      return size;
    };
    const unsigned z = room(n[0], 4), y = room(n[1], kDirectBlock / 32 / z);
    const unsigned x = n[1] == 1 ? 256 : 32;
    return dim3(x, x == 256 ? 1 : y, x == 256 ? 1 : z);
  }

  static void (*kernel_for(const Program<T>& program))(DirectLaunch<T>) {
    const std::size_t made = program.made.size();
    if (program.plain)
      return made <= 1   ? system_direct_kernel<T, 1, true>
             : made <= 3 ? system_direct_kernel<T, 3, true>
                         : system_direct_kernel<T, kMostMade, true>;
    return made <= 1   ? system_direct_kernel<T, 1, false>
           : made <= 3 ? system_direct_kernel<T, 3, false>
                       : system_direct_kernel<T, kMostMade, false>;
  }

  static void (*compact_kernel_for(std::size_t made))(CompactLaunch<T>) {
    return made <= 1   ? system_compact_kernel<T, 1>
           : made <= 3 ? system_compact_kernel<T, 3>
                       : system_compact_kernel<T, kMostMade>;
  }

  std::unique_ptr<DeviceTable> fields_;
  std::vector<Stage> stages_;
};

std::string why_unsupported(const SystemProblem& p, const Machine&) {
  constexpr double kLeastPoints = 32.0;  // of a block of one row, which is all that rows of a point leave
  const double blocks = double(p.extents[0]) * double(p.extents[1]) * (double(p.extents[2]) / kLeastPoints + 1.0);
  if (blocks / 4.0 > double(kMaxGridX)) return "takes up to 2^31 blocks";
  return why_no_launches(p);
}

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, direct_seconds(machine, p), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<DirectPlan<T>>(context, p);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{{"direct", why_unsupported, offer, make, {.narrow = true}},
                                                           5};

}  // namespace
}  // namespace tessera::cuda
