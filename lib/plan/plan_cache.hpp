// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Plans that are kept for the next caller who asks for the same.
#pragma once

#include "plan/plan.hpp"
#include "plan/plan_key.hpp"

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tessera::core {
struct Shelf;
}

/// A plan as programs hold it: their own, or lent by the cache.
struct tessera_plan {
  std::shared_ptr<tessera::core::Plan> plan;  ///< shared while somebody makes a clone of it
  tessera::core::Shelf* home = nullptr;       ///< where it goes back to; null: its own master
  std::unique_ptr<tessera_plan> next = {};    ///< of its shelf
};

namespace tessera::core {

/// The plans of one key. Lives while one of them is lent.
struct Shelf {
  std::vector<std::uint64_t> key;
  std::uint64_t hash = 0;
  const Context* context = nullptr;  ///< null: the environment's choice, or the best for the problem
  const Prepared* prepared = nullptr;
  std::list<std::unique_ptr<Shelf>>::iterator place;
  bool current = true;  ///< false: what comes back goes
  std::int64_t lent = 0;
  std::unique_ptr<tessera_plan> idle;
  std::weak_ptr<const Plan> original;  ///< of which others are clones
};

/// Lends each plan to one caller at a time, and makes another where all are lent: a clone, which has the same algorithm
/// and so the same bits. Plans of a context go with its handle; all go where the environment is read again. What is
/// idle is bounded, the least recently asked for goes first. No lock is held while a plan is made, executed or
/// destroyed. A forked child has an empty cache; what the parent had idle is never touched there, since the devices of
/// its contexts may be out of reach.
class PlanCache : public ContextSource {
 public:
  /// The process's cache, never destroyed: plans in static objects may outlive any static object of ours. What is idle
  /// goes when the program ends or the library is unloaded.
  static PlanCache& instance();
  /// Null where nobody has needed it yet.
  static PlanCache* if_used() { return used_.load(std::memory_order_acquire); }

  /// Throws what making the plan would throw. Give it back to give_back().
  tessera_plan* borrow(std::shared_ptr<Context> context, const tessera_desc* desc, const PlanOptions& options);
  void give_back(tessera_plan* plan) noexcept;

  /// Destroys what is idle; what is lent goes when it comes back.
  void clear() noexcept;
  /// The same for the plans of a context, and for those that take a prepared operand.
  void drop(const Context& context) noexcept;
  void drop(const Prepared& prepared) noexcept;

  struct Limits {
    std::int64_t plans = 1024;
    std::uint64_t bytes = std::uint64_t{256} << 20;
  };
  void limit(const Limits& limits) noexcept;

  struct State {
    Limits limits;
    std::int64_t idle = 0;
    std::int64_t lent = 0;              ///< of those that will be kept
    std::uint64_t bytes = 0;            ///< of what is idle
    std::uint64_t found = 0, made = 0;  ///< how often a plan was there, and was not, since the process began
  };
  State state();

  /// One context for all plans without one that come to run at the same place.
  std::shared_ptr<Context> context(Backend& backend, int device, int threads) override;

 private:
  using Shelves = std::list<std::unique_ptr<Shelf>>;
  using Plans = std::unique_ptr<tessera_plan>;  // a chain

  static PlanCache* make();
  static void before_fork() { used_.load()->mutex_.lock(); }
  static void in_parent() { used_.load()->mutex_.unlock(); }
  static void in_child();

  // With the lock held.
  Shelf* find(const PlanKey& key, std::uint64_t hash);
  Shelf& add(const PlanKey& key, std::uint64_t hash, const Context* context, const Prepared* prepared);
  void retire(Shelf& shelf, Plans& gone, Shelves& empty);
  void put(Shelf& shelf, Plans plan);
  Plans take(Shelf& shelf);
  void trim(Plans& gone, Shelves& empty);
  void remove_if_empty(Shelf& shelf, Shelves& empty);
  void forget(Shelf& shelf);
  std::shared_ptr<Context> known_context(const Backend& backend, int device, int threads);

  tessera_plan* make_plan(const PlanKey& key, std::uint64_t hash, std::shared_ptr<Context> context,
                          const tessera_desc* desc, const PlanOptions& options);
  void clear_at_exit(const Backend& backend);
  template <class Condition>
  void retire_if(Condition condition) noexcept;

  static std::atomic<PlanCache*> used_;
  std::mutex mutex_;
  Shelves shelves_;    // the most recently asked for first
  Shelves retired_;    // whose last plans are lent
  Shelves abandoned_;  // with what was idle in the process that this one was forked from
  std::unordered_multimap<std::uint64_t, Shelf*> index_;
  std::vector<std::weak_ptr<Context>> contexts_;
  std::vector<const Backend*> cleared_at_exit_;
  State state_;
};

}  // namespace tessera::core
