// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Waves and diffusion: one state that is stepped by a star, each row in one pass.

#include "../context.hpp"
#include "star_row.hpp"
#include "steps_plan.hpp"

#include <algorithm>
#include <memory>
#include <string>

namespace tessera::cpu {
namespace {

using plugin::star_of;
using plugin::StarSystem;

template <class T>
class StarPlan final : public SystemStepsPlan<T> {
 public:
  StarPlan(const Machine& machine, const SystemProblem& problem, const StarSystem& star)
      : SystemStepsPlan<T>(machine, problem),
        star_(star),
        make_row_(star_row<T>(star.form, star.radius, star.profiles[2] >= 0)) {}

 private:
  template <class U>
  U* at(int field, int level, std::int64_t number) const {
    return field < 0 ? nullptr : static_cast<U*>(this->levels().at(field, level, number));
  }

  /// What all rows of a step share; the pointers are to the domain's first point.
  StarRow<T> shared_row(std::int64_t number) const {
    const SystemProblem& p = this->problem();
    StarRow<T> all{};
    all.u = at<const T>(star_.u.field, star_.u.level, number);
    all.extent = all.row = p.extents[2], all.plane = p.extents[2] * p.extents[1];
    all.other = at<const T>(star_.other.field, star_.other.level, number);
    all.array = at<const T>(star_.array, 0, number), all.damping = at<const T>(star_.damping, 0, number);
    all.profile = at<const T>(star_.profiles[2], 0, number);
    all.next = at<T>(star_.made, 1, number);
    std::copy_n(star_.centre, 2, all.centre);
    all.other_coefficient = T(star_.other_coefficient);
    for (int axis = 0; axis < 3; ++axis)
      std::transform(star_.taps[axis], star_.taps[axis] + 2 * star_.radius, all.taps[axis],
                     [](double tap) { return T(tap); });
    return all;
  }

  void make_rows(int, Team team, std::int64_t number) override {
    const SystemProblem& p = this->problem();
    const StarRow<T> all = shared_row(number);
    const T *const along0 = at<const T>(star_.profiles[0], 0, number), *const along1 =
                                                                           at<const T>(star_.profiles[1], 0, number);
    const auto moves = [this](std::int64_t x, std::int64_t extent) {
      return x >= star_.radius && x < extent - star_.radius;
    };
    this->for_each_row(team, [&](std::int64_t i, std::int64_t j) {
      const std::int64_t first = (i * p.extents[1] + j) * p.extents[2];
      if (i + star_.radius + 1 < p.extents[0]) fetch_next_plane(all, first);
      if (!moves(i, p.extents[0]) || !moves(j, p.extents[1]) || p.extents[2] <= 2 * star_.radius) {
        std::copy(all.u + first + p.low[2], all.u + first + p.high[2], all.next + first + p.low[2]);
        return;
      }
      StarRow<T> row = all;
      const auto behind = [first](const T* array) { return array == nullptr ? nullptr : array + first; };
      row.u += first, row.next += first;
      row.other = behind(all.other), row.array = behind(all.array), row.damping = behind(all.damping);
      row.scale = (along0 == nullptr ? T(1) : along0[i]) * (along1 == nullptr ? T(1) : along1[j]);
      make_row_(row, p.low[2], p.high[2]);
    });
  }

  /// Brings the row of the next plane that no plane before has needed: processors foresee the lines of a row, not those
  /// of the next
  /// plane. Inlined, since g++ leaves out calls of functions that only prefetch.
  [[gnu::always_inline]] void fetch_next_plane(const StarRow<T>& all, std::int64_t first) const {
    constexpr std::int64_t kLine = kLineBytes / std::int64_t(sizeof(T));
    const auto fetch = [&](const T* array, std::int64_t planes) {
      for (std::int64_t k = 0; array != nullptr && k < all.extent; k += kLine)
        __builtin_prefetch(array + first + planes * all.plane + k);
    };
    fetch(all.u, star_.radius + 1);
    for (const T* array : {all.other, all.array, all.damping}) fetch(array, 1);
  }

  StarSystem star_;
  MakeStarRow<T> make_row_;
};

std::string why_unsupported(const SystemProblem& p, const Machine&) {
  std::string why;
  star_of(p, why);
  return why;
}

void offer(const SystemProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, star_seconds(machine, p), p.workspace_offsets().back()});
}

std::unique_ptr<plugin::Plan> make(Context& context, const SystemProblem& p, const plugin::Parameters&) {
  std::string why;
  const auto star = star_of(p, why);
  return plugin::with_types<plugin::WideTypes>(p.dtype,
                                               [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
                                                 return std::make_unique<StarPlan<T>>(context.machine(), p, *star);
                                               });
}

const plugin::Register<Context, SystemProblem> kRegistered{{"star", why_unsupported, offer, make, {.boxes = true}}, 1};

}  // namespace
}  // namespace tessera::cpu
