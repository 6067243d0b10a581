// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil over ranks, beside the plans of one rank that it is made of.

#include "blocks.hpp"
#include "check.hpp"
#include "station.hpp"
#include "taps.hpp"
#include "wide.hpp"

#include <cmath>

namespace tessera::perf {

namespace {

constexpr std::uint64_t kSeed = 20;

std::vector<std::int64_t> extents_of(const StencilShape& s) { return {s.extents.end() - s.rank, s.extents.end()}; }

/// Points at which results are compared: at the ends of each rank's block along each axis, and in the middle.
std::vector<std::int64_t> places_in(const Block& block, bool in_array, const std::vector<std::int64_t>& whole) {
  std::vector<std::int64_t> places;
  constexpr int kPlaces = 48;
  for (int i = 0; i < kPlaces; ++i) {
    std::int64_t at = in_array ? block.offset : 0;
    for (std::size_t axis = 0; axis < whole.size(); ++axis) {
      const std::int64_t n = block.extents[axis];
      // The first axis, which is cut first, from end to end; the others anywhere.
      const auto anywhere = std::int64_t((0.5 + 0.5 * random_value(7, std::uint64_t(i * 3 + int(axis)))) * double(n));
      const std::int64_t ends[] = {0, 1, n / 2, n - 2, n - 1, anywhere};
      const std::int64_t own = std::clamp<std::int64_t>(axis == 0 ? ends[i % 6] : anywhere, 0, n - 1);
      at = in_array ? at + own * block.strides[axis] : at * whole[axis] + block.first[axis] + own;
    }
    places.push_back(at);
  }
  return places;
}

BlockOfWhole part_of(const Block& block, const std::vector<std::int64_t>& whole) {
  BlockOfWhole b{whole, block.first, block.extents, block.low, {}};
  for (std::size_t axis = 0; axis < whole.size(); ++axis)
    b.array.push_back(block.low[axis] + block.extents[axis] + block.high[axis]);
  return b;
}

/// A rank's own plan of a packed domain, without any halo.
struct OwnPlan {
  OwnPlan(const Station& station, const Problem& problem)
      : plan(*station.context, stencil_desc(problem), {.operands = station.memory()}),
        in(station.allocate(problem.in_bytes(0))),
        out(station.allocate(problem.out_bytes())) {
    station.device->fill(in.get(), problem.kind.dtype, problem.in_count[0], kSeed, {});
  }
  void execute() { plan.execute(static_cast<const float*>(in.get()), static_cast<float*>(out.get())); }

  StencilPlan plan;
  std::shared_ptr<void> in, out;
};

/// One case, and what its ranks have of it.
class ScaledStencil {
 public:
  ScaledStencil(const Station& station, const ScalingCase& c)
      : s_(station), case_(c), whole_(c.whole(station.group.size())), extents_(extents_of(whole_.stencil)) {}

  void run();

 private:
  void make();
  void find_reference();
  /// The largest error relative to its bound; throws where one is larger.
  double check(const void* out, const std::vector<std::int64_t>& places) const;
  void add_own(std::vector<Subject>& subjects);
  void add_jacobi(std::vector<Subject>& subjects);
  std::vector<std::pair<std::string, double>> counters() const;
  std::string subject(const char* name) const { return "tessera:" + s_.backend + ":" + name; }

  const Station& s_;
  const ScalingCase& case_;
  Problem whole_;
  std::vector<std::int64_t> extents_;
  std::unique_ptr<DistributedStencilPlan> plan_;
  std::shared_ptr<void> in_, out_;
  std::vector<double> reference_;  ///< at the places of this rank's block
  std::vector<std::shared_ptr<void>> kept_;
};

void ScaledStencil::make() {
  together(s_.group, [&] {
    plan_ = std::make_unique<DistributedStencilPlan>(s_.group.comm(), *s_.context, stencil_desc(whole_),
                                                     s_.cut(extents_.size()), PlanOptions{.operands = s_.memory()});
  });
  together(s_.group, [&] {
    const Block block = plan_->block();
    const std::size_t bytes = std::size_t(block.elements) * size_of(whole_.kind.dtype);
    in_ = s_.allocate(bytes), out_ = s_.allocate(bytes);
    s_.device->poison(in_.get(), bytes), s_.device->poison(out_.get(), bytes);
    fill_block(*s_.device, in_.get(), whole_.kind.dtype, part_of(block, extents_), kSeed);
  });
}

/// By a plan of rank 0 alone, for the whole.
void ScaledStencil::find_reference() {
  const std::size_t count = places_in(plan_->block(), false, extents_).size();
  std::vector<double> all(count * std::size_t(s_.group.size()));
  together(s_.group, [&] {
    if (!s_.is_root()) return;
    if (2.2 * double(whole_.in_bytes(0)) > double(s_.device->free_bytes()))
      throw std::runtime_error("the whole domain, to compare with, does not fit in the memory of one rank");
    OwnPlan own(s_, whole_);
    own.execute();
    std::vector<std::int64_t> places;
    for (int rank = 0; rank < s_.group.size(); ++rank)
      for (const std::int64_t place : places_in(plan_->block(rank), false, extents_)) places.push_back(place);
    s_.device->read(own.out.get(), whole_.kind.dtype, places, all.data());
  });
  std::vector<double> gathered(all.size() * std::size_t(s_.group.size()));
  s_.group.all_gather(all.data(), gathered.data(), all.size() * sizeof(double));
  const auto own = gathered.begin() + std::ptrdiff_t(count * std::size_t(s_.group.rank()));
  reference_.assign(own, own + std::ptrdiff_t(count));
}

double ScaledStencil::check(const void* out, const std::vector<std::int64_t>& places) const {
  std::vector<double> values(places.size());
  s_.device->read(out, whole_.kind.dtype, places, values.data());
  // Both results err by as much: the rounding of a sum in each step, of values of size 1 at most, as sum |c| = 1.
  const auto terms = std::size_t(tap_count(whole_.stencil.pattern, whole_.stencil.rank, whole_.stencil.radius)) + 2;
  const double bound = 2.0 * 1.01 * double(whole_.stencil.steps) * roundoff_of_sum<float>(terms);
  double worst = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - reference_[i]) / bound;
    if (!(error <= 1.0))
      throw std::runtime_error("a wrong result: " + std::to_string(values[i]) + " where one rank has " +
                               std::to_string(reference_[i]));
    worst = std::max(worst, error);
  }
  return worst;
}

/// What the model of perf/report/scaling.py needs to know.
std::vector<std::pair<std::string, double>> ScaledStencil::counters() const {
  const Block block = plan_->block(s_.group.size() / 2);  // of a rank with two neighbours, where there are three
  double points = 1.0, halo = 1.0;
  for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
    points *= double(block.extents[axis]);
    halo *= double(axis == 0 ? std::max(block.low[0], block.high[0]) : block.extents[axis]);
  }
  const double deep = double(std::max(block.low[0], block.high[0])) / double(whole_.stencil.radius);
  return {{"points", points},
          {"halo_points", halo},
          {"halo_bytes", halo * double(size_of(whole_.kind.dtype))},
          {"steps", double(whole_.stencil.steps)},
          {"depth", deep}};
}

/// One rank's plan: of its block (weak scaling) or of the whole, and all ranks' at once.
void ScaledStencil::add_own(std::vector<Subject>& subjects) {
  const Problem problem = case_.problem;
  const bool weak = case_.scaling == Scaling::weak;
  std::shared_ptr<OwnPlan> own;
  together(s_.group, [&] {
    if (weak || s_.is_root()) own = std::make_shared<OwnPlan>(s_, problem);
  });
  kept_.push_back(own);
  const std::string label = own ? own->plan.describe() : "";
  const auto execute = own ? std::function<void()>([own] { own->execute(); }) : nullptr;
  subjects.push_back({subject("one_rank"), s_.is_root() ? execute : nullptr, problem.work, 0.0, label});
  if (weak) subjects.push_back({subject("at_once"), execute, whole_.work, 0.0, label});
}

/// The plain kernels over NCCL, and those of one rank.
void ScaledStencil::add_jacobi(std::vector<Subject>& subjects) {
  if (!s_.options.peers || s_.device_peers == nullptr || whole_.stencil.radius != 1) return;
  StencilShape own = case_.problem.stencil;
  const std::size_t plane = std::size_t(own.points() / own.extents[std::size_t(3 - own.rank)]) * sizeof(float);
  const std::size_t bytes = std::size_t(own.points()) * sizeof(float) + 2 * plane;
  std::array<std::shared_ptr<void>, 3> arrays;
  std::function<void()> cut, alone;
  together(s_.group, [&] {
    for (auto& array : arrays) array = s_.allocate(bytes);
    for (auto& array : arrays) s_.device->poison(array.get(), bytes);
    const std::int64_t offset = s_.group.rank() * own.points();
    s_.device->fill(static_cast<char*>(arrays[0].get()) + plane, whole_.kind.dtype, own.points(),
                    shifted_seed(kSeed, offset), {});
    cut = s_.device_peers->jacobi(own, false, arrays[0].get(), arrays[1].get(), arrays[2].get());
    alone = s_.device_peers->jacobi(own, true, arrays[0].get(), arrays[1].get(), arrays[2].get());
  });
  cut();
  double error = 0.0;
  together(s_.group, [&] {
    Block block = plan_->block();
    for (std::size_t axis = extents_.size(); axis-- > 0;)
      block.strides[axis] = axis + 1 < extents_.size() ? block.strides[axis + 1] * extents_[axis + 1] : 1;
    block.offset = block.strides[0];
    error = check(arrays[1].get(), places_in(block, true, extents_));
  });
  error = s_.group.max(error);
  for (auto& array : arrays) kept_.push_back(array);
  const std::string version = s_.device_peers->version();
  subjects.push_back({"peer:jacobi", cut, whole_.work, error, version});
  subjects.push_back({"peer:jacobi_one_rank", s_.is_root() ? alone : nullptr, case_.problem.work, 0.0, version});
}

void ScaledStencil::run() {
  make();
  find_reference();
  double error = 0.0;
  together(s_.group, [&] { plan_->execute(in_.get(), out_.get()); });
  together(s_.group, [&] { error = check(out_.get(), places_in(plan_->block(), true, extents_)); });
  error = s_.group.max(error);
  std::vector<Subject> subjects;
  subjects.push_back({subject("distributed"), [this] { plan_->execute(in_.get(), out_.get()); }, whole_.work, error,
                      plan_->describe(), counters()});
  add_own(subjects);
  if (case_.scaling == Scaling::weak) add_jacobi(subjects);
  contest(s_, "distributed/" + case_.name(s_.group.size()) + "/" + whole_.kind.name() + "/cold", std::move(subjects));
}

}  // namespace

void run_stencil(const Station& station, const ScalingCase& c) { ScaledStencil(station, c).run(); }

}  // namespace tessera::perf
