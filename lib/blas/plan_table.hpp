// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The plans that a thread has used lately.
#pragma once

#include <tessera/tessera.h>

#include <cstddef>
#include <cstdint>

namespace tessera::blas {

/// What a plan is made for.
struct Shape {
  tessera_dtype dtype = 0;
  tessera_transpose trans_a = 0, trans_b = 0;
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0, batch = 0, stride_a = 0, stride_b = 0, stride_c = 0;
  tessera_triangle triangle = TESSERA_TRIANGLE_NONE;

  bool operator==(const Shape&) const = default;
};

/// Plans that a thread has borrowed from the plan cache, to be found again without a lock. They go back when others
/// take their place or the thread ends. The child of a fork begins with an empty table, as the plan cache does.
class PlanTable {
 public:
  /// That of the calling thread; null where there is no memory for it, or where the thread is about to end.
  static PlanTable* of_thread() noexcept;

  PlanTable() = default;
  ~PlanTable();
  PlanTable(const PlanTable&) = delete;
  PlanTable& operator=(const PlanTable&) = delete;

  /// Null where there is none.
  tessera_plan* find(const Shape& shape) noexcept;
  /// Takes over a plan that is not in the table, and gives back the one that was used least lately of its neighbours.
  void add(const Shape& shape, tessera_plan* plan) noexcept;
  /// Gives back a plan of the table.
  void remove(const tessera_plan* plan) noexcept;

 private:
  static constexpr std::size_t kSets = 16, kWays = 4;
  struct Entry {
    Shape shape;
    tessera_plan* plan = nullptr;
    std::uint64_t used = 0;  ///< of the table's clock
  };

  Entry* set_of(const Shape& shape) { return entries_[hash(shape) % kSets]; }
  static std::uint64_t hash(const Shape& shape);

  Entry entries_[kSets][kWays];
  std::uint64_t clock_ = 0;
};

}  // namespace tessera::blas
