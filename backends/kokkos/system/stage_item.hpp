// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an item of a stage does: all fields of the stage at some points of a row, which are stored when all of them
/// have read.
#pragma once

#include "elements.hpp"
#include "program.hpp"

#include <tessera/plugin/system_map.hpp>

#include <algorithm>

namespace tessera::kokkos {

/// Points of an item. On the processor they share the reading of the lists, and loops over them have vectors. On a
/// device neighbouring threads have neighbouring points.
inline constexpr int kRun = kOnHost ? 64 : 1;

/// Points behind each other in a row.
struct RunOfPoints {
  std::int64_t at[3];  ///< the first
  int count;

  KOKKOS_INLINE_FUNCTION int size() const { return kRun == 1 ? 1 : count; }
  KOKKOS_INLINE_FUNCTION bool row_in(const std::int64_t (&low)[3], const std::int64_t (&high)[3]) const {
    return at[0] >= low[0] && at[0] < high[0] && at[1] >= low[1] && at[1] < high[1];
  }
  KOKKOS_INLINE_FUNCTION bool all_in(const std::int64_t (&low)[3], const std::int64_t (&high)[3]) const {
    return row_in(low, high) && at[2] >= low[2] && at[2] + count <= high[2];
  }
};

/// A Program's lists, and the places of all fields.
template <class T>
struct StageLists {
  const FieldPlace* fields;
  const MadeField* made;
  const BoxRecord* boxes;
  const GroupRecord* groups;
  const TermRecord<T>* terms;
  const FactorRecord* factors;
};

/// A stage of at most kMade fields, which are made from at most kArrays arrays.
template <class T, int kMade, int kArrays>
struct StageItem {
  StageLists<T> lists;
  std::int64_t made_begin, made_end;  ///< of a row
  std::int32_t made_count;
  void* arrays[kArrays];

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t run, std::int64_t j, std::int64_t i) const {
    const std::int64_t first = made_begin + run * kRun, left = made_end - first;
    const RunOfPoints points{{i, j, first}, left < kRun ? int(left) : kRun};
    T values[kMade][kRun];
    for (int m = 0; m < made_count; ++m) make(lists.made[m], points, values[m]);
    for (int m = 0; m < made_count; ++m) store(lists.made[m], points, values[m]);
  }

 private:
  /// A field's new values. Points in none of its boxes keep those of level 0.
  KOKKOS_INLINE_FUNCTION void make(const MadeField& made, const RunOfPoints& points, T* values) const {
    bool one_box = false;
    for (int b = made.boxes.first; b < made.boxes.last; ++b)
      one_box = one_box || points.all_in(lists.boxes[b].low, lists.boxes[b].high);
    const FieldPlace& place = lists.fields[made.field];
    if (!one_box) read(arrays[made.source], place, place.at(points.at), points.size(), values);
    for (int b = made.boxes.first; b < made.boxes.last; ++b) {
      const BoxRecord& box = lists.boxes[b];
      if (points.row_in(box.low, box.high)) make(box, points, values);
    }
  }

  /// The values in a box.
  KOKKOS_INLINE_FUNCTION void make(const BoxRecord& box, const RunOfPoints& points, T* values) const {
    const std::int64_t first = points.at[2];
    const std::int64_t begin = std::max(box.low[2], first), end = std::min(box.high[2], first + points.count);
    if (begin >= end) return;
    const RunOfPoints some{{points.at[0], points.at[1], begin}, int(end - begin)};
    evaluate(box.groups, some, some.all_in(box.inner_low, box.inner_high), values + (begin - first));
  }

  /// The sum of groups. `inside`: nothing is read outside the domain.
  KOKKOS_INLINE_FUNCTION void evaluate(const Entries& groups, const RunOfPoints& points, bool inside, T* total) const {
    const int n = points.size();
    for (int v = 0; v < n; ++v) total[v] = T(0);
    for (int g = groups.first; g < groups.last; ++g) {
      const GroupRecord& group = lists.groups[g];
      T sum[kRun], product[kRun];
      for (int v = 0; v < n; ++v) sum[v] = T(0);
      for (int t = group.terms.first; t < group.terms.last; ++t) {
        const TermRecord<T>& term = lists.terms[t];
        const T* values = row_of(term, points, inside);
        if (values == nullptr) {
          multiply(term.factors, points, inside, product);
          values = product;
        }
        const T coefficient = term.coefficient;
        for (int v = 0; v < n; ++v) sum[v] += coefficient * values[v];
      }
      multiply(group.factors, points, inside, product);
      for (int v = 0; v < n; ++v) total[v] += product[v] * sum[v];
    }
  }

  /// Where a term's values are as they are needed: those of one factor, of type T and side by side; else null.
  KOKKOS_INLINE_FUNCTION const T* row_of(const TermRecord<T>& term, const RunOfPoints& points, bool inside) const {
    if (kRun == 1 || !inside || term.factors.last - term.factors.first != 1) return nullptr;
    const FactorRecord& factor = lists.factors[term.factors.first];
    const FieldPlace& place = lists.fields[factor.field];
    const bool plain =
        place.dtype == tessera_dtype(kDType<T>) && place.strides[2] == 1 && factor.map == TESSERA_MAP_IDENTITY;
    return plain ? static_cast<const T*>(arrays[factor.array]) + place.at(points.at) + factor.distance : nullptr;
  }

  /// The product of factors; 1 where there are none.
  KOKKOS_INLINE_FUNCTION void multiply(const Entries& factors, const RunOfPoints& points, bool inside,
                                       T* product) const {
    const int n = points.size();
    if (factors.first < factors.last)
      read(lists.factors[factors.first], points, inside, product);
    else
      for (int v = 0; v < n; ++v) product[v] = T(1);
    for (int f = factors.first + 1; f < factors.last; ++f) {
      T value[kRun];
      read(lists.factors[f], points, inside, value);
      for (int v = 0; v < n; ++v) product[v] *= value[v];
    }
  }

  /// A factor's values.
  KOKKOS_INLINE_FUNCTION void read(const FactorRecord& factor, const RunOfPoints& points, bool inside,
                                   T* values) const {
    const FieldPlace& place = lists.fields[factor.field];
    const void* const array = arrays[factor.array];
    const int n = points.size();
    if (inside)
      read(array, place, place.at(points.at) + factor.distance, n, values);
    else
      read_anywhere(array, place, factor.offset, points, values);
    if (factor.map != TESSERA_MAP_IDENTITY)
      for (int v = 0; v < n; ++v) values[v] = plugin::mapped_value(factor.map, values[v]);
  }

  /// Elements as they are.
  KOKKOS_INLINE_FUNCTION void read(const void* array, const FieldPlace& place, std::int64_t first, int n,
                                   T* values) const {
    const std::int64_t next = place.strides[2];
    with_element_type(place.dtype, [&]<class S>(std::type_identity<S>) {
      const S* const from = static_cast<const S*>(array) + first;
      if (next == 1)
        for (int v = 0; v < n; ++v) values[v] = T(widened(from[v]));
      else
        for (int v = 0; v < n; ++v) values[v] = T(widened(from[v * next]));
    });
  }

  /// Elements some of which may lie outside the domain, through the boundary modes. Those between the row's ends come
  /// from one row.
  KOKKOS_INLINE_FUNCTION void read_anywhere(const void* array, const FieldPlace& place, const std::int32_t (&offset)[3],
                                            const RunOfPoints& points, T* values) const {
    const std::int64_t first = points.at[2] + offset[2], row_end = place.domain.extents[2];
    for (int v = 0, together = 1; v < points.size(); v += together) {
      const std::int64_t x = first + v;
      if (kRun > 1) together = x < 0 || x >= row_end ? 1 : int(std::min<std::int64_t>(points.count - v, row_end - x));
      const plugin::Sample s = place.domain.sample(points.at[0] + offset[0], points.at[1] + offset[1], x);
      if (s.constant)
        for (int w = v; w < v + together; ++w) values[w] = T(s.value);
      else
        read(array, place, place.at(s.index), together, values + v);
    }
  }

  KOKKOS_INLINE_FUNCTION void store(const MadeField& made, const RunOfPoints& points, const T* values) const {
    const FieldPlace& place = lists.fields[made.field];
    const std::int64_t first = place.at(points.at), next = place.strides[2];
    with_element_type(place.dtype, [&]<class S>(std::type_identity<S>) {
      S* const to = static_cast<S*>(arrays[made.target]) + first;
      for (int v = 0; v < points.size(); ++v) to[v * next] = rounded<S>(Scalar<S>(values[v]));
    });
  }
};

}  // namespace tessera::kokkos
