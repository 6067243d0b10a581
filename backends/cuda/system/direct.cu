// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every system: each value an ordinary load, each stage a launch or some.
#include "direct.cuh"

#include "../launch.cuh"
#include "model.hpp"
#include "points.hpp"

#include <tessera/plugin/plugin.hpp>

#include <algorithm>
#include <memory>

namespace tessera::cuda {
namespace {

using plugin::SystemProblem;

template <class T>
class DirectPlan final : public plugin::Plan {
 public:
  DirectPlan(Context& context, const SystemProblem& problem)
      : context_(context),
        problem_(problem),
        levels_(problem_),
        points_(context, problem_),
        fields_(table_of(places_of(problem_))) {
    for (const int stage : problem_.stages) {
      Stage& made = stages_.emplace_back();
      made.number = stage;
      for (const std::vector<int>& fields : launches_of(problem_, stage))
        made.launches.push_back(launch_of(stage, fields));
    }
    const DeviceGuard guard(context.device());
    for (const Stage& stage : stages_)
      for (const Launch& one : stage.launches) prepare(one.kernel);
    prepare_levels(context);
  }

  std::uint64_t workspace_bytes() const override { return levels_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    const DeviceGuard guard(context_.device());
    levels_.take(execution);
    for (std::int64_t step = 0; step < problem_.steps; ++step)
      for (Stage& stage : stages_) {
        for (Launch& one : stage.launches) {
          for (std::size_t i = 0; i < one.arrays.size(); ++i)
            one.arguments.arrays[i] = levels_.at(one.arrays[i].field, one.arrays[i].level, step);
          launch(one.kernel, one.grid, one.block, 0, context_.stream(), one.arguments);
        }
        points_.run(stage.number, step, execution, levels_);
      }
    bring_levels_back(context_, problem_, levels_);
  }

 private:
  struct Launch {
    void (*kernel)(DirectLaunch<T>);
    dim3 grid, block;
    std::vector<ArrayOf> arrays;
    std::unique_ptr<DeviceTable> records, boxes;
    DirectLaunch<T> arguments;
  };
  struct Stage {
    int number;
    std::vector<Launch> launches;
  };

  template <class Item>
  std::unique_ptr<DeviceTable> table_of(const std::vector<Item>& items) {
    return std::make_unique<DeviceTable>(context_, items.data(), items.size() * sizeof(Item));
  }

  Launch launch_of(int stage, const std::vector<int>& fields) {
    Program<T> program = program_of<T>(problem_, stage, fields);
    Launch made{kernel_for(program),     {}, block_shape(), program.arrays, table_of(program.records),
                table_of(program.boxes), {}};
    DirectLaunch<T>& a = made.arguments;
    const SystemProblem::Field& common = problem_.fields[std::size_t(problem_.updates.front().field)];
    std::copy_n(problem_.extents.begin(), 3, a.extents);
    for (std::size_t axis = 0; axis < 3; ++axis)
      a.strides[axis] = common.strides[axis] * std::int64_t(plugin::size_of(common.dtype));
    a.tiles[0] = tiles(problem_.extents[2], made.block.x * kDirectPoints<T>);
    a.tiles[1] = tiles(problem_.extents[1], made.block.y);
    made.grid = dim3(unsigned(a.tiles[0] * a.tiles[1] * tiles(problem_.extents[0], made.block.z)));
    a.records = made.records->template as<const Record<T>>();
    a.boxes = made.boxes->template as<const UpdateBox>();
    a.fields = fields_->as<const FieldPlace>();
    a.made_count = int(program.made.size());
    std::copy(program.made.begin(), program.made.end(), a.made);
    return made;
  }

  static std::int64_t tiles(std::int64_t extent, unsigned size) { return (extent + size - 1) / std::int64_t(size); }

  /// Threads along the axes that there are. Cubes share most of what their points read.
  dim3 block_shape() const {
    const auto& n = problem_.extents;
    const auto room = [](std::int64_t extent, unsigned most) {
      unsigned size = 1;
      while (size < most && std::int64_t(size) < extent) size *= 2;
      return size;
    };
    const unsigned z = room(n[0], 4), y = room(n[1], 16 / z);
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

  Context& context_;
  SystemProblem problem_;
  plugin::SystemLevels levels_;
  SystemPoints points_;
  std::unique_ptr<DeviceTable> fields_;
  std::vector<Stage> stages_;
};

std::string why_unsupported(const SystemProblem& p, const Machine&) { return why_no_launches(p); }

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
