// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "scaled.hpp"

#include "random.hpp"

namespace tessera::perf {

namespace {

/// Points at which results are compared: at the ends of each rank's block along each axis, and in the middle.
std::vector<std::int64_t> places_in(const Block& block, bool in_array, const std::vector<std::int64_t>& whole) {
  std::vector<std::int64_t> places;
  constexpr int kPlaces = 480;
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

}  // namespace

OwnPlan::OwnPlan(const Station& station, const Problem& problem, const std::string& algorithm)
    : fixture(*station.device, problem, kScaledSeed),
      prepared(prepare(*station.context, problem, {.operands = station.memory(), .algorithm = algorithm})) {}

void ScaledCase::run() {
  make();
  together(s_.group, [&] { execute(); });
  const double error = s_.group.max(checked());
  subjects_.push_back(
      {"tessera:" + s_.backend + ":distributed", [this] { execute(); }, whole_.work, error, describe(), counters()});
  add_own();
  add_peers();
  contest(s_, title(), subjects_);
}

/// One rank's plan: of its block (weak scaling) or of the whole, and all ranks' at once.
void ScaledCase::add_own() {
  std::shared_ptr<OwnPlan> own;
  std::string label;
  together(s_.group, [&] {
    if (!is_weak() && !s_.is_root()) return;
    own = std::make_shared<OwnPlan>(s_, case_.problem);
    label = own->prepared.description;
  });
  const auto execute = own ? std::function<void()>([own] { own->execute(); }) : nullptr;
  const std::string ours = "tessera:" + s_.backend;
  subjects_.push_back({ours + ":one_rank", s_.is_root() ? execute : nullptr, case_.problem.work, 0.0, label});
  if (is_weak()) subjects_.push_back({ours + ":at_once", execute, whole_.work, 0.0, label});
}

BlockOfWhole ScaledDomain::part() const {
  const Block block = own_block();
  BlockOfWhole b{extents_, block.first, block.extents, block.low, {}};
  for (std::size_t axis = 0; axis < extents_.size(); ++axis)
    b.array.push_back(block.low[axis] + block.extents[axis] + block.high[axis]);
  return b;
}

std::shared_ptr<void> ScaledDomain::poisoned_block() const {
  const std::size_t bytes = std::size_t(own_block().elements) * size_of(whole_.kind.dtype);
  std::shared_ptr<void> memory = s_.allocate(bytes);
  s_.device->poison(memory.get(), bytes);
  return memory;
}

std::shared_ptr<void> ScaledDomain::filled_block(std::uint64_t seed, Range range) const {
  std::shared_ptr<void> memory = poisoned_block();
  fill_block(*s_.device, memory.get(), whole_.kind.dtype, part(), seed, range);
  return memory;
}

void ScaledDomain::find_reference(const std::string& algorithm, double bytes, double bound) {
  const std::size_t count = places_in(own_block(), false, extents_).size();
  std::vector<double> all(count * std::size_t(s_.group.size())), gathered(all.size() * std::size_t(s_.group.size()));
  together(s_.group, [&] {
    if (!s_.is_root()) return;
    if (1.1 * bytes > double(s_.device->free_bytes()))
      throw std::runtime_error("the whole domain, to compare with, does not fit in the memory of one rank");
    OwnPlan own(s_, whole_, algorithm);
    own.execute();
    std::vector<std::int64_t> places;
    for (int rank = 0; rank < s_.group.size(); ++rank)
      for (const std::int64_t place : places_in(block_of(rank), false, extents_)) places.push_back(place);
    s_.device->read(own.fixture.result(), whole_.kind.dtype, places, all.data());
  });
  s_.group.all_gather(all.data(), gathered.data(), all.size() * sizeof(double));
  const auto own = gathered.begin() + std::ptrdiff_t(count * std::size_t(s_.group.rank()));
  reference_.value.assign(own, own + std::ptrdiff_t(count));
  reference_.bound.assign(count, bound);
}

double ScaledDomain::compared(const void* array, const Block& block) {
  Verdict verdict;
  together(s_.group, [&] {
    reference_.where = places_in(block, true, extents_);
    verdict = reference_.check(*s_.device, array, whole_.kind.dtype, ", of which one rank makes another,");
    if (!verdict.failure.empty()) throw std::runtime_error(verdict.failure);
  });
  return verdict.error;
}

std::vector<std::pair<std::string, double>> ScaledDomain::halo_counters(double radius, double steps,
                                                                        double arrays) const {
  const Block block = block_of(s_.group.size() / 2);  // of a rank with two neighbours, where there are three
  double points = 1.0;
  for (const std::int64_t extent : block.extents) points *= double(extent);
  const auto deep = double(std::max(block.low[0], block.high[0]));
  const double halo = deep * points / double(block.extents[0]), depth = deep / radius;
  return {{"points", points},
          {"halo_points", halo},
          {"halo_bytes", halo * double(size_of(whole_.kind.dtype)) * (depth > 1.0 ? arrays : 1.0)},
          {"steps", steps},
          {"depth", depth}};
}

void run_case(const Station& station, const ScalingCase& c) {
  const Op op = c.problem.op;
  (op == Op::gemm     ? scaled_product(station, c)
   : op == Op::system ? scaled_system(station, c)
                      : scaled_stencil(station, c))
      ->run();
}

}  // namespace tessera::perf
