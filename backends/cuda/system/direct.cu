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

std::int64_t tiles(std::int64_t extent, unsigned size) { return (extent + size - 1) / std::int64_t(size); }

/// Threads along the axes that there are. Cubes share most of what their points read.
dim3 block_shape(const plugin::Index3& extents) {
  constexpr unsigned kRow = 32;
  const unsigned z = extents[0] == 1 ? 1 : 2;
  if (extents[1] == 1) return dim3(kDirectBlock / z, 1, z);
  return dim3(kRow, kDirectBlock / kRow / z, z);
}

/// Blocks along x, y and z that cover the domain.
plugin::Index3 blocks_of(const plugin::Index3& extents, int points) {
  const dim3 block = block_shape(extents);
  return {tiles(extents[0], block.z), tiles(extents[1], block.y), tiles(extents[2], block.x * unsigned(points))};
}

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
    std::vector<CompactSource> sources;
    std::vector<MadeField> made;

    void run(const plugin::SystemLevels& levels, std::int64_t step, cudaStream_t stream) {
      const auto at = [&](int array) {
        return levels.at(arrays[std::size_t(array)].field, arrays[std::size_t(array)].level, step);
      };
      if (compact == nullptr) {
        for (std::size_t i = 0; i < arrays.size(); ++i) arguments->arrays[i] = at(int(i));
        launch(kernel, grid, block, 0, stream, *arguments);
        return;
      }
      for (std::size_t r = 0; r < sources.size(); ++r)
        compact->records[r].from = static_cast<const char*>(at(sources[r].array)) + sources[r].distance;
      for (std::size_t f = 0; f < made.size(); ++f)
        compact->made[f].target = at(made[f].target), compact->made[f].source = at(made[f].source);
      launch(compact_kernel, grid, block, 0, stream, *compact);
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
    made.block = block_shape(problem().extents);
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
    const plugin::Index3 blocks = blocks_of(problem().extents, kDirectPoints<T>);
    made.grid = dim3(unsigned(blocks[0] * blocks[1] * blocks[2]));
    made.kernel = kernel_for(program);
    made.compact_kernel = compact_kernel_for(program.made.size());
    auto compact = std::make_unique<CompactLaunch<T>>();
    CompactBuilder<T> builder(program, *compact);
    if (builder.build(near, strides, common.span(problem().extents) * element)) {
      made.sources = builder.sources(), made.made = program.made;
      compact->tiles[0] = int(blocks[2]), compact->tiles[1] = int(blocks[1]);
      compact->inner_blocks = int(made.grid.x);
      made.grid.x += unsigned(tiles(compact->shell_points, kDirectBlock));
      made.compact = std::move(compact);
      return made;
    }
    made.arguments = arguments_of(program, near, strides, made);
    return made;
  }

  static std::unique_ptr<DirectLaunch<T>> arguments_of(const Program<T>& program, const NearBoundary<T>& near,
                                                       const std::int64_t (&strides)[3], const Launch& launch) {
    auto a = std::make_unique<DirectLaunch<T>>();
    const plugin::Index3 blocks = blocks_of({near.extents[0], near.extents[1], near.extents[2]}, kDirectPoints<T>);
    a->near = near;
    a->tiles[0] = blocks[2], a->tiles[1] = blocks[1];
    std::copy_n(strides, 3, a->strides);
    a->point_step = launch.block.x * strides[2];
    a->made_count = int(program.made.size());
    std::copy(program.made.begin(), program.made.end(), a->made);
    return a;
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
    return made == 1 ? system_compact_kernel<T, 1> : system_compact_kernel<T, kMostMade>;
  }

  std::unique_ptr<DeviceTable> fields_;
  std::vector<Stage> stages_;
};

std::string why_unsupported(const SystemProblem& p, const Machine&) {
  const plugin::Index3 blocks = blocks_of(p.extents, 2);
  if (double(blocks[0]) * double(blocks[1]) * double(blocks[2]) > double(kMaxGridX)) return "takes up to 2^31 blocks";
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
