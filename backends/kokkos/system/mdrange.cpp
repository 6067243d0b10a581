// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every system, point by point: an MDRangePolicy over the domain for each stage.

#include "../range.hpp"
#include "list.hpp"
#include "model.hpp"
#include "sparse_points.hpp"
#include "stage_item.hpp"

#include <memory>

namespace tessera::kokkos {
namespace {

/// A level that comes back from the workspace.
template <class S>
struct CopyItem {
  FieldPlace place;
  const S* source;
  S* target;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, std::int64_t j, std::int64_t i) const {
    const std::int64_t at = place.at({i, j, k});
    target[at] = source[at];
  }
};

template <class T>
class MdrangePlan final : public plugin::Plan {
 public:
  MdrangePlan(Context& context, const SystemProblem& problem)
      : context_(context),
        problem_(problem),
        levels_(problem_),
        places_(places_of(problem_)),
        fields_(context, places_),
        points_(context, problem_) {
    for (const int stage : problem_.stages) stages_.emplace_back(context, stage, Program<T>(problem_, stage));
  }

  std::uint64_t workspace_bytes() const override { return levels_.workspace_bytes(); }

  void execute(const plugin::Execution& execution) override {
    levels_.take(execution);
    context_.dispatch([&](const Launcher& launch) {
      for (std::int64_t step = 0; step < problem_.steps; ++step)
        for (const Stage& stage : stages_) {
          run(launch, stage, step);
          points_.run(launch, stage.number, step, execution, levels_);
        }
      for (std::size_t f = 0; f < places_.size(); ++f) bring_back(launch, int(f));
    });
  }

 private:
  struct Stage {
    int number, made_count;
    std::vector<ArrayOf> arrays;
    List<MadeField> made;
    List<BoxRecord> boxes;
    List<GroupRecord> groups;
    List<TermRecord<T>> terms;
    List<FactorRecord> factors;

    Stage(Context& context, int stage, const Program<T>& program)
        : number(stage),
          made_count(int(program.made.size())),
          arrays(program.arrays),
          made(context, program.made),
          boxes(context, program.boxes),
          groups(context, program.groups),
          terms(context, program.terms),
          factors(context, program.factors) {}
  };

  void run(const Launcher& launch, const Stage& stage, std::int64_t step) const {
    constexpr int kFew = 8, kFewArrays = 16;  // so many fit among the arguments of a small kernel
    if (stage.made_count == 0) return;
    if (stage.made_count <= kFew && stage.arrays.size() <= std::size_t(kFewArrays))
      start<kFew, kFewArrays>(launch, stage, step);
    else
      start<TESSERA_MAX_FIELDS, TESSERA_MAX_FIELDS*(TESSERA_MAX_LEVELS + 1)>(launch, stage, step);
  }

  template <int kMade, int kArrays>
  void start(const Launcher& launch, const Stage& stage, std::int64_t step) const {
    StageItem<T, kMade, kArrays> item{};
    item.lists = {fields_.data(),      stage.made.data(),  stage.boxes.data(),
                  stage.groups.data(), stage.terms.data(), stage.factors.data()};
    item.made_begin = problem_.low[2], item.made_end = problem_.high[2];
    item.made_count = stage.made_count;
    for (std::size_t a = 0; a < stage.arrays.size(); ++a)
      item.arrays[a] = levels_.at(stage.arrays[a].field, stage.arrays[a].level, step);
    const auto &low = problem_.low, &high = problem_.high;
    const std::int64_t runs = (high[2] - low[2] + kRun - 1) / kRun;
    const auto over = range<ArgumentRange>(launch.space(), {0, low[1], low[0]}, {runs, high[1], high[0]}, kRun);
    launch(over, item);
  }

  void bring_back(const Launcher& launch, int field) const {
    const plugin::SystemLevels::Leftover left = levels_.leftover(field, problem_.steps);
    if (left.source == nullptr) return;
    const FieldPlace& place = places_[std::size_t(field)];
    const auto& n = problem_.extents;
    plugin::with_types(place.dtype, [&]<class S>(std::type_identity<S>) {
      launch(range(launch.space(), {0, 0, 0}, {n[2], n[1], n[0]}),
             CopyItem<S>{place, static_cast<const S*>(left.source), static_cast<S*>(left.target)});
    });
  }

  Context& context_;
  SystemProblem problem_;
  plugin::SystemLevels levels_;
  std::vector<FieldPlace> places_;
  List<FieldPlace> fields_;
  SparsePoints<T> points_;
  std::vector<Stage> stages_;
};

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, system_seconds(machine, p), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  context.require_no_fault();
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<MdrangePlan<T>>(context, p);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{
    {"mdrange", plugin::supports_all<SystemProblem, Machine>, offer, make, {.narrow = true, .boxes = true}}, 2};

}  // namespace
}  // namespace tessera::kokkos
