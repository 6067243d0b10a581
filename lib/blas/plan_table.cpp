// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan_table.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <new>

namespace tessera::blas {
namespace {

// No memory is taken for them later, and they can be read after destructors of the thread have run.
[[gnu::tls_model("initial-exec")]] thread_local PlanTable* g_table = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool g_over = false;

/// Empties a thread's table when the thread ends.
struct Closer {
  bool armed = false;
  ~Closer() {
    delete g_table;
    g_table = nullptr;
    g_over = true;
  }
};
thread_local Closer g_closer;

std::atomic<bool> g_forks_watched{false};

/// What the parent's plans hold may be out of reach here, so that they are not even given back.
void in_child() { g_table = nullptr; }

PlanTable* make_table() noexcept {
  if (g_over) return nullptr;
  if (!g_forks_watched.exchange(true) && pthread_atfork(nullptr, nullptr, in_child) != 0) {
    g_forks_watched = false;
    return nullptr;
  }
  g_closer.armed = true;  // the first use makes its destructor run
  g_table = new (std::nothrow) PlanTable;
  return g_table;
}

}  // namespace

PlanTable* PlanTable::of_thread() noexcept { return g_table != nullptr ? g_table : make_table(); }

PlanTable::~PlanTable() {
  for (auto& set : entries_)
    for (const Entry& entry : set) tessera_plan_destroy(entry.plan);
}

std::uint64_t PlanTable::hash(const Shape& s) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  const auto mixed = [](std::int64_t a, std::int64_t b, std::int64_t c, std::uint64_t odd) {
    return (std::uint64_t(a) + 3 * std::uint64_t(b) + 5 * std::uint64_t(c)) * odd;
  };
  const std::uint64_t sum = mixed(s.m, s.lda, s.stride_a, kOdd) + mixed(s.n, s.ldb, s.stride_b, kOdd * 3) +
                            mixed(s.k, s.ldc, s.stride_c, kOdd * 7) + mixed(s.batch, s.dtype, 0, kOdd * 11) +
                            mixed(s.trans_a, 0, s.trans_b, kOdd * 13);
  return sum >> 32;
}

tessera_plan* PlanTable::find(const Shape& shape) noexcept {
  Entry* const set = set_of(shape);
  for (std::size_t i = 0; i < kWays; ++i)
    if (set[i].plan != nullptr && set[i].shape == shape) {
      set[i].used = ++clock_;
      return set[i].plan;
    }
  return nullptr;
}

void PlanTable::add(const Shape& shape, tessera_plan* plan) noexcept {
  Entry* const set = set_of(shape);
  Entry& place = *std::min_element(set, set + kWays, [](const Entry& x, const Entry& y) { return x.used < y.used; });
  tessera_plan_destroy(place.plan);
  place = {shape, plan, ++clock_};
}

void PlanTable::remove(const tessera_plan* plan) noexcept {
  for (auto& set : entries_)
    for (Entry& entry : set)
      if (entry.plan == plan) {
        tessera_plan_destroy(entry.plan);
        entry = {};
        return;
      }
}

}  // namespace tessera::blas
