// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The arguments of launches of "direct" whose records fit beside them. Records come in runs of one kind, so that what
/// is done with a value is decided once for many. Points near a side of the domain have threads of their own.
#pragma once

#include "direct.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::cuda {

/// Most records, runs and boxes of such a launch: arguments have 4 KiB.
inline constexpr int kCompactRecords = 120, kCompactRuns = 64, kCompactBoxes = 8;

template <class T>
struct alignas(8) CompactRecord {
  const char* from;  ///< what the point reads whose own place is 0
  T coefficient;     ///< of a term, in its first record
};

/// How a record reads, where a run has records of several kinds or a value may lie outside the domain.
struct alignas(8) CompactAccess {
  Place place;
  std::uint8_t map, field;
  std::int8_t offset[3];
};

/// Records that are read and used alike.
struct CompactRun {
  enum Kind : std::uint8_t { kSums, kProducts, kTriples, kScales, kConstants };
  Kind kind;
  bool plain;  ///< all read what lies beside the point, as it is
  bool ends;   ///< a group
  std::uint8_t count;
};

struct CompactBox {
  int low[3], high[3];              ///< where it is evaluated
  int plain_low[3], plain_high[3];  ///< where no value is read outside the domain
  int first_record, first_run, last_run;
};

struct CompactField {
  void* target;
  const void* source;  ///< of points of no box
  int first_box, last_box;
};

/// Points of the shell, from first_point on.
struct CompactSlab {
  int low[3], size[3], first_point;
};
inline constexpr int kCompactSlabs = 6;

template <class T>
struct CompactLaunch {
  CompactRecord<T> records[kCompactRecords];
  CompactAccess access[kCompactRecords];
  CompactRun runs[kCompactRuns];
  CompactBox boxes[kCompactBoxes];
  CompactField made[kMostMade];
  const FieldPlace* fields;
  CompactSlab slabs[kCompactSlabs];
  int inner_low[3], inner_high[3];  ///< none of its points reads a value outside the domain
  int inner_blocks, shell_points;   ///< the blocks that follow make points outside it
  int made_count;
  int extents[3], tiles[2];
  unsigned strides[2];  ///< bytes, of planes and rows
};
static_assert(sizeof(CompactLaunch<double>) <= 4096);

/// What depends on the step: which array a record reads, and where.
struct CompactSource {
  int array;
  std::int64_t distance;
};

/// From a program to such arguments.
template <class T>
class CompactBuilder {
 public:
  CompactBuilder(const Program<T>& program, CompactLaunch<T>& launch) : program_(program), a_(launch) {}

  /// Fills in what does not change from step to step; false where the program has no such form. `bytes`: of the largest
  /// array.
  bool build(const NearBoundary<T>& near, const std::int64_t (&strides)[3], std::int64_t bytes) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (program_.boxes.size() > std::size_t(kCompactBoxes) || bytes >= kMost || !program_.alike ||
        !program_.same_type || strides[2] != std::int64_t(sizeof(T)))
      return false;
    for (std::size_t b = 0; b < program_.boxes.size(); ++b)
      if (!add(program_.boxes[b], a_.boxes[b])) return false;
    for (std::size_t f = 0; f < program_.made.size(); ++f) {
      a_.made[f].first_box = program_.made[f].first_box, a_.made[f].last_box = program_.made[f].last_box;
    }
    a_.made_count = int(program_.made.size());
    for (int axis = 0; axis < 3; ++axis) a_.extents[axis] = int(near.extents[axis]);
    a_.strides[0] = unsigned(strides[0]), a_.strides[1] = unsigned(strides[1]);
    a_.fields = near.fields;
    part();
    return true;
  }

  /// Of each record.
  const std::vector<CompactSource>& sources() const { return sources_; }

 private:
  bool add(const UpdateBox& box, CompactBox& to) {
    for (int axis = 0; axis < 3; ++axis) {
      to.low[axis] = int(box.low[axis]), to.high[axis] = int(box.high[axis]);
      to.plain_low[axis] = int(box.plain_low[axis]), to.plain_high[axis] = int(box.plain_high[axis]);
    }
    to.first_record = int(sources_.size()), to.first_run = runs_;
    bool begins = true;
    for (int r = box.first; r < box.last;) {
      const Step step = program_.records[std::size_t(r)].step;
      if (step == Step::end) {
        if (begins && !add_run({CompactRun::kScales, true, false, 0})) return false;
        a_.runs[runs_ - 1].ends = true;
        begins = true;
        ++r;
      } else if (step == Step::nothing) {
        ++r;
      } else {
        if (!add_item(r, begins)) return false;
        begins = false;
      }
    }
    to.last_run = runs_;
    return true;
  }

  /// A term, a factor of a group or a constant, which joins the run before it if that is of its kind.
  bool add_item(int& r, bool begins) {
    const int first = r;
    CompactRun run{kind_at(r), true, false, 1};
    for (bool more = true; more; ++r) {
      const Record<T>& record = program_.records[std::size_t(r)];
      more = record.step == Step::begin || record.step == Step::multiply;
      if (!add(record, program_.offsets[std::size_t(r)])) return false;
      run.plain &=
          run.kind == CompactRun::kConstants || (record.place == Place::common && record.map == TESSERA_MAP_IDENTITY);
    }
    a_.records[int(sources_.size()) - (r - first)].coefficient = program_.records[std::size_t(first)].coefficient;
    CompactRun* const last = begins ? nullptr : &a_.runs[runs_ - 1];
    if (last != nullptr && last->kind == run.kind && last->plain == run.plain) return ++last->count, true;
    return add_run(run);
  }

  CompactRun::Kind kind_at(int r) const {
    const auto step = [&](int i) { return program_.records[std::size_t(i)].step; };
    if (step(r) == Step::scale) return CompactRun::kScales;
    if (step(r) == Step::constant) return CompactRun::kConstants;
    if (step(r) == Step::add) return CompactRun::kSums;
    return step(r + 1) == Step::multiply_add ? CompactRun::kProducts : CompactRun::kTriples;
  }

  bool add(const Record<T>& record, const RecordOffset& offset) {
    static_assert(TESSERA_MAX_FIELDS <= UINT8_MAX);
    const bool along = record.place >= Place::along0 && record.place <= Place::along2;
    if (record.place == Place::other || (along && record.stride != int(sizeof(T)))) return false;
    if (sources_.size() == std::size_t(kCompactRecords)) return false;
    CompactAccess& access = a_.access[sources_.size()];
    access.place = record.place, access.map = record.map, access.field = std::uint8_t(record.field);
    for (int axis = 0; axis < 3; ++axis) {
      access.offset[axis] = std::int8_t(offset.by[axis]);
      if (access.offset[axis] != offset.by[axis]) return false;
    }
    sources_.push_back({record.array, record.distance});
    return true;
  }

  /// Parts the domain into the inner points and slabs of others.
  void part() {
    for (int axis = 0; axis < 3; ++axis) {
      int low = 0, high = a_.extents[axis];
      for (std::size_t b = 0; b < program_.boxes.size(); ++b) {
        const CompactBox& box = a_.boxes[b];
        if (box.low[axis] < box.plain_low[axis]) low = std::max(low, box.plain_low[axis]);
        if (box.high[axis] > box.plain_high[axis]) high = std::min(high, box.plain_high[axis]);
      }
      a_.inner_low[axis] = std::min(low, a_.extents[axis]);
      a_.inner_high[axis] = std::max(high, a_.inner_low[axis]);
    }
    int rest_low[3] = {0, 0, 0}, rest_high[3];
    std::copy_n(a_.extents, 3, rest_high);
    for (int axis = 0; axis < 3; ++axis)
      for (const int side : {0, 1}) {
        CompactSlab& slab = a_.slabs[2 * axis + side];
        slab.first_point = a_.shell_points;
        int high[3];
        std::copy_n(rest_low, 3, slab.low), std::copy_n(rest_high, 3, high);
        if (side == 0)
          rest_low[axis] = high[axis] = a_.inner_low[axis];
        else
          rest_high[axis] = slab.low[axis] = a_.inner_high[axis];
        int points = 1;
        for (int i = 0; i < 3; ++i) points *= slab.size[i] = high[i] - slab.low[i];
        a_.shell_points += points;
      }
  }

  bool add_run(const CompactRun& run) {
    if (runs_ == kCompactRuns) return false;
    a_.runs[runs_++] = run;
    return true;
  }

  const Program<T>& program_;
  CompactLaunch<T>& a_;
  std::vector<CompactSource> sources_;
  int runs_ = 0;
};

}  // namespace tessera::cuda
