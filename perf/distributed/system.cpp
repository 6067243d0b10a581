// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system of fields over ranks, beside the plans of one rank that it is made of.

#include "blocks.hpp"
#include "station.hpp"
#include "systems.hpp"

#include <algorithm>

namespace tessera::perf {

namespace {

constexpr std::uint64_t kSeed = 40;

/// Arrays of the operands, and the list that an execution takes and leaves in the next one's order.
struct Arrays {
  std::vector<std::shared_ptr<void>> memory;
  std::vector<void*> list;
};

std::vector<std::int64_t> extents_of(const SystemShape& s) { return {s.extents.end() - s.rank, s.extents.end()}; }

/// "cpu-v3/star" of what a plan says of itself.
std::string algorithm_of(const std::string& description) {
  const std::size_t begin = description.find(" | ") + 3;
  return description.substr(begin, description.find_first_of(": ", begin) - begin);
}

/// One rank's own plan of a packed domain.
struct OwnSystem {
  OwnSystem(const Station& station, const Problem& problem, const std::string& algorithm)
      : prepared(prepare(*station.context, problem, {.operands = station.memory(), .algorithm = algorithm})) {
    for (std::size_t i = 0; i < problem.operands.size(); ++i) {
      const SystemOperand& operand = problem.operands[i];
      arrays.memory.push_back(station.allocate(std::size_t(operand.count) * size_of(problem.kind.dtype)));
      arrays.list.push_back(arrays.memory.back().get());
      station.device->fill(arrays.list.back(), problem.kind.dtype, operand.count, kSeed + i, operand.range);
    }
  }
  void execute() { prepared.execute(nullptr, arrays.list.data()); }

  Prepared prepared;
  Arrays arrays;
};

/// One case of waves, whose fields are the state's two levels and perhaps an array.
class ScaledSystem {
 public:
  ScaledSystem(const Station& station, const ScalingCase& c)
      : s_(station), case_(c), whole_(c.whole(station.group.size())), extents_(extents_of(whole_.system)) {}

  void run();

 private:
  void make();
  void execute();
  void check();
  std::vector<float> sampled(const void* array, const Block& block, bool in_array) const;
  void add_own(std::vector<Subject>& subjects);
  std::vector<std::pair<std::string, double>> counters() const;
  std::string subject(const char* name) const { return "tessera:" + s_.backend + ":" + name; }

  const Station& s_;
  const ScalingCase& case_;
  Problem whole_;
  std::vector<std::int64_t> extents_;
  std::unique_ptr<DistributedSystemPlan> plan_;
  Arrays arrays_;
};

void ScaledSystem::make() {
  const StencilSystem system = system_of(whole_.system, whole_.kind.dtype);
  together(s_.group, [&] {
    plan_ = std::make_unique<DistributedSystemPlan>(s_.group.comm(), *s_.context, system, whole_.system.steps,
                                                    s_.cut(extents_.size()), PlanOptions{.operands = s_.memory()});
  });
  const Block block = plan_->block();
  const std::size_t bytes = std::size_t(block.elements) * sizeof(float);
  BlockOfWhole part{extents_, block.first, block.extents, block.low, {}};
  for (std::size_t axis = 0; axis < extents_.size(); ++axis)
    part.array.push_back(block.low[axis] + block.extents[axis] + block.high[axis]);
  for (std::size_t i = 0; i < whole_.operands.size(); ++i) {
    const SystemOperand& operand = whole_.operands[i];
    together(s_.group, [&] {
      arrays_.memory.push_back(s_.allocate(bytes));
      arrays_.list.push_back(arrays_.memory.back().get());
      s_.device->poison(arrays_.list.back(), bytes);
      fill_block(*s_.device, arrays_.list.back(), whole_.kind.dtype, part, kSeed + i, operand.range);
    });
    if (operand.use == SystemOperand::Use::constant)
      together(s_.group, [&] { plan_->exchange(SystemField(operand.index, whole_.system.rank), arrays_.list.back()); });
  }
}

void ScaledSystem::execute() {
  std::vector<FieldArrays> fields;
  std::vector<void*> after(arrays_.list);
  for (std::size_t i = 0; i < whole_.operands.size();) {
    const SystemField field(whole_.operands[i].index, whole_.system.rank);
    const std::size_t first = i;
    std::vector<SystemArray> levels;
    for (; i < whole_.operands.size() && whole_.operands[i].index == whole_.operands[first].index; ++i) {
      levels.emplace_back(static_cast<float*>(arrays_.list[i]));
      if (whole_.operands[i].use == SystemOperand::Use::state)
        after[i] = arrays_.list[first + std::size_t(plan_->place_after(field, -whole_.operands[i].level))];
    }
    fields.emplace_back(field, std::move(levels));
  }
  plan_->execute(fields);
  arrays_.list = std::move(after);
}

/// Planes at the ends of a block and in its middle, every so many points.
std::vector<float> ScaledSystem::sampled(const void* array, const Block& block, bool in_array) const {
  constexpr std::int64_t kStride = 1009;
  std::vector<std::int64_t> places;
  const std::int64_t n = block.extents[0], plane = whole_.system.points() / extents_[0];
  for (const std::int64_t own : {std::int64_t{0}, std::int64_t{1}, n / 2, n - 2, n - 1})
    for (std::int64_t at = own; at < plane; at += kStride)
      places.push_back((own + (in_array ? block.low[0] : block.first[0])) * plane + at);
  std::vector<double> values(places.size());
  s_.device->read(array, whole_.kind.dtype, places, values.data());
  return {values.begin(), values.end()};
}

/// The bits are those of a plan of one rank with the same algorithm. The first axis alone is cut.
void ScaledSystem::check() {
  const std::size_t count = sampled(arrays_.list[0], plan_->block(0), true).size();
  std::vector<float> mine(count), all(count * std::size_t(s_.group.size()));
  together(s_.group, [&] { mine = sampled(arrays_.list[0], plan_->block(), true); });
  s_.group.all_gather(mine.data(), all.data(), count * sizeof(float));
  together(s_.group, [&] {
    if (!s_.is_root()) return;
    if (1.1 * double(whole_.operands.size()) * double(whole_.operands[0].count) * sizeof(float) >
        double(s_.device->free_bytes()))
      throw std::runtime_error("the whole domain, to compare with, does not fit in the memory of one rank");
    OwnSystem own(s_, whole_, algorithm_of(plan_->describe()));
    own.execute();
    for (int rank = 0; rank < s_.group.size(); ++rank) {
      const std::vector<float> expected = sampled(own.arrays.list[0], plan_->block(rank), false);
      const auto found = all.begin() + std::ptrdiff_t(count) * rank;
      if (!std::equal(expected.begin(), expected.end(), found))
        throw std::runtime_error("a wrong result on rank " + std::to_string(rank));
    }
  });
}

std::vector<std::pair<std::string, double>> ScaledSystem::counters() const {
  const Block block = plan_->block(s_.group.size() / 2);
  double points = 1.0;
  for (const std::int64_t extent : block.extents) points *= double(extent);
  const auto deep = double(std::max(block.low[0], block.high[0]));
  const double steps = double(whole_.system.steps), depth = deep / double(whole_.system.order / 2);
  const double halo = deep * points / double(block.extents[0]);
  // Several steps need the level before, too.
  return {{"points", points},
          {"halo_points", halo},
          {"halo_bytes", halo * sizeof(float) * (depth > 1.0 ? 2.0 : 1.0)},
          {"steps", steps},
          {"depth", depth}};
}

void ScaledSystem::add_own(std::vector<Subject>& subjects) {
  const bool weak = case_.scaling == Scaling::weak;
  std::shared_ptr<OwnSystem> own;
  std::string label;
  together(s_.group, [&] {
    if (!weak && !s_.is_root()) return;
    own = std::make_shared<OwnSystem>(s_, case_.problem, "");
    label = SystemPlan(*s_.context, system_of(case_.problem.system, case_.problem.kind.dtype),
                       case_.problem.system.steps, {.operands = s_.memory()})
                .describe();
  });
  const auto execute = own ? std::function<void()>([own] { own->execute(); }) : nullptr;
  subjects.push_back({subject("one_rank"), s_.is_root() ? execute : nullptr, case_.problem.work, 0.0, label});
  if (weak) subjects.push_back({subject("at_once"), execute, whole_.work, 0.0, label});
}

void ScaledSystem::run() {
  make();
  together(s_.group, [&] { execute(); });
  check();
  std::vector<Subject> subjects;
  subjects.push_back({subject("distributed"), [this] { execute(); }, whole_.work, 0.0, plan_->describe(), counters()});
  add_own(subjects);
  contest(s_, "distributed/" + case_.name(s_.group.size()) + "/" + whole_.kind.name() + "/cold", std::move(subjects));
}

}  // namespace

void run_system(const Station& station, const ScalingCase& c) { ScaledSystem(station, c).run(); }

}  // namespace tessera::perf
