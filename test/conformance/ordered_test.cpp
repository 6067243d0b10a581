// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Ordered sums: all algorithms of a backend that take them give the same bits, whatever the strides, and so do boxes
/// of the domain, which lie in a larger array and are swept one by one, step by step.

#include "runner.hpp"
#include "stop.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::test {

namespace {

using Index = std::array<std::int64_t, TESSERA_MAX_RANK>;
constexpr Weights kWeights = Weights::contracting;

/// Boundaries of all axes, and two that differ from side to side.
std::vector<std::pair<std::string, Boundaries>> boundaries(int rank) {
  const BoundarySide constant(Boundary::constant, 0.3), other(Boundary::constant, -0.7);
  std::vector<std::pair<std::string, Boundaries>> all;
  for (const Boundary mode : kBoundaries)
    if (mode != Boundary::halo) all.emplace_back(name_of(mode), Boundaries(BoundarySide(mode, 0.3)));
  std::vector<BoundaryAxis> mixed{BoundaryAxis(constant, Boundary::reflect),
                                  BoundaryAxis(Boundary::periodic, Boundary::periodic),
                                  BoundaryAxis(Boundary::nearest, other)};
  std::vector<BoundaryAxis> with_fixed{BoundaryAxis(Boundary::fixed, constant), BoundaryAxis(other, Boundary::mirror),
                                       BoundaryAxis(Boundary::mirror, Boundary::fixed)};
  mixed.erase(mixed.begin() + rank, mixed.end()), with_fixed.erase(with_fixed.begin() + rank, with_fixed.end());
  all.emplace_back("mixed", Boundaries(std::move(mixed)));
  all.emplace_back("mixed with fixed", Boundaries(std::move(with_fixed)));
  return all;
}

std::vector<Named> lists(int rank) {
  std::vector<Named> all{{"star1", star(rank, 1, kWeights)},
                         {"star2", star(rank, 2, kWeights)},
                         {"one sided", one_sided(rank, kWeights)},
                         {"scattered", scattered(rank, kWeights)}};
  if (rank > 1) all.push_back({"box1", box(rank, 1, kWeights)});
  const Offset long_rows[] = {{26, 1, 1}, {2, 19, 1}, {1, 2, 11}};
  all.push_back({"long rows", block(rank, {-1, rank > 1 ? -1 : 0, rank > 2 ? -2 : 0}, long_rows[rank - 1], kWeights)});
  return all;
}

std::vector<StencilCase> ordered_cases() {
  const Extents extents[] = {{2100}, {29, 150}, {14, 13, 131}};
  std::vector<StencilCase> cases;
  for (int rank = 1; rank <= TESSERA_MAX_RANK; ++rank)
    for (const Named& list : lists(rank))
      for (const auto& [mode, sides] : boundaries(rank))
        for (const int steps : {1, 3}) {
          StencilCase c;
          c.name = "ordered " + text(extents[rank - 1]) + " " + list.name + " " + mode + " " + std::to_string(steps);
          c.desc = {.extents = extents[rank - 1],
                    .taps = list.taps,
                    .boundary = sides,
                    .steps = steps,
                    .sums = Sums::ordered};
          cases.push_back(std::move(c));
        }
  return cases;
}

template <class Body>
void for_each_index(const Index& first, const Index& last, Body&& body) {
  for (std::int64_t i = first[0]; i < last[0]; ++i)
    for (std::int64_t j = first[1]; j < last[1]; ++j)
      for (std::int64_t l = first[2]; l < last[2]; ++l) body(Index{i, j, l});
}

std::int64_t place(const Index& index, const Index& strides) {
  return index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2];
}

/// The domain in an array with ghost points on the axes that are periodic, in C order.
class Field {
 public:
  explicit Field(const StencilDesc& desc) : rank_(desc.extents.size()), extents_{1, 1, 1} {
    const StencilLayout layout = layout_of(desc);
    std::int64_t stride = 1;
    for (std::size_t axis = rank_; axis-- > 0;) {
      extents_[axis] = layout.extents[axis];
      if (desc.boundary[axis].low.mode == Boundary::periodic) low_[axis] = layout.reach[axis][0];
      if (desc.boundary[axis].low.mode == Boundary::periodic) high_[axis] = layout.reach[axis][1];
      strides_[axis] = stride;
      stride *= low_[axis] + extents_[axis] + high_[axis];
    }
    size_ = stride;
  }
  std::int64_t size() const { return size_; }
  std::int64_t at(const Index& index) const {
    return place({index[0] + low_[0], index[1] + low_[1], index[2] + low_[2]}, strides_);
  }
  Integers strides() const { return {strides_.begin(), strides_.begin() + std::ptrdiff_t(rank_)}; }
  const Index& extents() const { return extents_; }

  template <class T>
  void fill_ghosts(std::vector<T>& values) const {
    Index first, last;
    for (std::size_t axis = 0; axis < first.size(); ++axis)
      first[axis] = -low_[axis], last[axis] = extents_[axis] + high_[axis];
    for_each_index(first, last, [&](const Index& index) {
      Index inside = index;
      for (std::size_t axis = 0; axis < inside.size(); ++axis)
        inside[axis] = (inside[axis] + extents_[axis]) % extents_[axis];
      if (inside != index) values[std::size_t(at(index))] = values[std::size_t(at(inside))];
    });
  }

 private:
  std::size_t rank_;
  Index extents_, low_{}, high_{}, strides_{};
  std::int64_t size_;
};

/// A box: where it begins, and its stencil of one step.
struct Box {
  std::int64_t first;
  StencilDesc desc;
};

/// Cuts every axis in two.
std::vector<Box> boxes_of(const StencilDesc& desc, const Field& field) {
  const std::size_t rank = desc.extents.size();
  std::vector<Box> boxes;
  for (unsigned which = 0; which < 1u << rank; ++which) {
    Box box{0, desc};
    box.desc.steps = 1;
    box.desc.in_strides = box.desc.out_strides = field.strides();
    std::vector<BoundaryAxis> sides;
    Index first{};
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const bool upper = which >> axis & 1, periodic = desc.boundary[axis].low.mode == Boundary::periodic;
      const std::int64_t extent = field.extents()[axis], half = extent / 2;
      first[axis] = upper ? half : 0;
      box.desc.extents[axis] = upper ? extent - half : half;
      sides.push_back(desc.boundary[axis]);
      if (upper || periodic) sides.back().low = Boundary::halo;
      if (!upper || periodic) sides.back().high = Boundary::halo;
    }
    box.desc.boundary = Boundaries(std::move(sides));
    box.first = field.at(first);
    boxes.push_back(std::move(box));
  }
  return boxes;
}

/// A case, its input, and the bits that the first algorithm has found.
template <class T>
class OrderedTrial {
 public:
  OrderedTrial(Subject& subject, const StencilCase& c)
      : subject_(subject), name_(c.name), desc_(c.desc), field_(desc_) {
    desc_.dtype = kDType<T>;
    const Index& n = field_.extents();
    Random random(c.name);
    for (std::int64_t i = 0; i < n[0] * n[1] * n[2]; ++i) in_.push_back(number<T>(random.uniform()));
  }

  /// Arrays in C order, and with the axes the other way round.
  void run_domain(const std::string& algorithm, bool reversed, Tally& tally) {
    StencilDesc desc = desc_;
    const Index& n = field_.extents();
    const std::size_t rank = desc.extents.size();
    Index strides{};
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < rank; stride *= n[reversed ? i : rank - 1 - i], ++i)
      strides[reversed ? i : rank - 1 - i] = stride;
    for (std::size_t axis = 0; axis < rank; ++axis) desc.in_strides.push_back(strides[axis]);
    desc.out_strides = desc.in_strides;
    auto plan = plan_of(desc, algorithm, Memory::host, tally);
    if (!plan) return;
    std::vector<T> in(in_.size()), out(in_.size());
    std::size_t i = 0;
    for_each_index({}, n, [&](const Index& index) { in[std::size_t(place(index, strides))] = in_[i++]; });
    plan->execute(in.data(), out.data());
    std::vector<T> result;
    for_each_index({}, n, [&](const Index& index) { result.push_back(out[std::size_t(place(index, strides))]); });
    compare(result, algorithm + (reversed ? ", axes reversed" : ", the whole domain"), tally);
  }

  void run_boxes(const std::string& algorithm, Tally& tally) {
    std::vector<std::pair<std::int64_t, StencilPlan>> plans;
    for (const Box& box : boxes_of(desc_, field_)) {
      auto plan = plan_of(box.desc, algorithm, Memory::device, tally);
      if (!plan) return;
      plans.emplace_back(box.first, std::move(*plan));
    }
    std::vector<T> values(std::size_t(field_.size()));
    std::size_t i = 0;
    for_each_index({}, field_.extents(), [&](const Index& index) { values[std::size_t(field_.at(index))] = in_[i++]; });
    Buffer<T> in(subject_.context(), field_.size()), out(subject_.context(), field_.size());
    out.upload(values);
    for (std::int64_t step = 0; step < desc_.steps; ++step) {
      field_.fill_ghosts(values);
      in.upload(values);
      for (auto& [first, plan] : plans) plan.execute(in.data() + first, out.data() + first);
      out.download(values);
    }
    std::vector<T> result;
    for_each_index({}, field_.extents(),
                   [&](const Index& index) { result.push_back(values[std::size_t(field_.at(index))]); });
    compare(result, algorithm + ", in boxes", tally);
  }

 private:
  std::optional<StencilPlan> plan_of(const StencilDesc& desc, const std::string& algorithm, Memory memory,
                                     Tally& tally) {
    try {
      StencilPlan plan(subject_.context(), desc, {.operands = memory, .algorithm = algorithm});
      subject_.check_forced(plan, algorithm);
      return plan;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      ++tally.refused[std::string(error.what()).substr(0, 160)];
      return {};
    }
  }

  void compare(const std::vector<T>& result, const std::string& what, Tally& tally) {
    ++tally.run;
    if (first_.empty()) {
      first_ = result, first_what_ = what;
      return;
    }
    std::size_t different = 0, last = 0;
    for (std::size_t i = 0; i < result.size(); ++i)
      if (std::memcmp(&result[i], &first_[i], sizeof(T)) != 0) ++different, last = i;
    if (different == 0) return;
    ++tally.failed;
    FAIL_CHECK(name_ << " " << name_of(kDType<T>) << ", " << what << ": " << different << " of " << result.size()
                     << " points have other bits than " << first_what_ << ", point " << last << " has "
                     << double(wide(result[last])) << " for " << double(wide(first_[last])));
  }

  Subject& subject_;
  std::string name_, first_what_;
  StencilDesc desc_;
  Field field_;
  std::vector<T> in_, first_;
};

}  // namespace

TEMPLATE_TEST_CASE("ordered sums have the same bits by every algorithm and in boxes", "", float, double, float16,
                   bfloat16) {
  Subject subject;
  const auto names = subject.tested(TESSERA_OP_STENCIL);
  std::vector<Tally> tallies(names.size());
  std::vector<StencilCase> cases = ordered_cases();
  std::size_t index = 0;
  std::erase_if(cases, [&](const auto&) { return index++ % std::max<std::size_t>(short_list(), 1) != 0; });
  const std::size_t sample = draw_sample(cases);
  for (std::size_t at = 0; at < sample; ++at) {
    INFO("repeat with TESSERA_TEST_SEED=" << seed());
    OrderedTrial<TestType> trial(subject, cases[at]);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (tallies[i].failed >= 10) continue;
      for (const bool reversed : {false, true}) trial.run_domain(names[i], reversed, tallies[i]);
      trial.run_boxes(names[i], tallies[i]);
    }
  }
  int runs = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    report(subject.spec() + "/" + names[i] + " " + name_of(kDType<TestType>) + " ordered", tallies[i], true);
    runs += tallies[i].run > 0;
  }
  if (subject.is_complete() && names.size() == subject.algorithms(TESSERA_OP_STENCIL).size()) CHECK(runs > 1);
}

}  // namespace tessera::test
