// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/plan_cache.hpp"

#include "check.hpp"
#include "plan/make_plan.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

namespace tessera::core {
namespace {

void push(std::unique_ptr<tessera_plan>& chain, std::unique_ptr<tessera_plan> plan) {
  plan->next = std::move(chain);
  chain = std::move(plan);
}

/// One after the other: the destructors of a long chain would call each other.
void destroy(std::unique_ptr<tessera_plan> chain) noexcept {
  while (chain != nullptr) chain = std::move(chain->next);
}

}  // namespace

std::atomic<PlanCache*> PlanCache::used_{nullptr};

PlanCache& PlanCache::instance() {
  static PlanCache* const cache = make();
  return *cache;
}

PlanCache* PlanCache::make() {
  auto cache = std::make_unique<PlanCache>();
  used_ = cache.get();
  if (pthread_atfork(before_fork, in_parent, in_child) == 0) return cache.release();
  used_ = nullptr;
  throw std::bad_alloc();
}

/// Takes no memory. Plans that this thread has borrowed stay its own.
void PlanCache::in_child() {
  PlanCache& cache = *used_;
  while (!cache.shelves_.empty()) {
    Shelf& shelf = *cache.shelves_.front();
    shelf.current = false;
    Shelves& holder = shelf.idle != nullptr ? cache.abandoned_ : cache.retired_;
    holder.splice(holder.end(), cache.shelves_, shelf.place);
  }
  cache.index_.clear();
  cache.contexts_.clear();
  cache.state_ = {cache.state_.limits};
  cache.mutex_.unlock();
}

tessera_plan* PlanCache::borrow(std::shared_ptr<Context> context, const tessera_desc* desc,
                                const PlanOptions& options) {
  if (options.workspace != nullptr)
    invalid("workspace", "not null", "must be null: plans of the cache have their own; make a plan to give it one");
  const PlanKey key(context.get(), desc, options);
  const std::uint64_t hash = key.hash();
  {
    const std::lock_guard lock(mutex_);
    Shelf* const shelf = find(key, hash);
    if (shelf != nullptr && shelf->idle != nullptr) {
      ++shelf->lent, ++state_.lent, ++state_.found;
      return take(*shelf).release();
    }
  }
  return make_plan(key, hash, std::move(context), desc, options);
}

tessera_plan* PlanCache::make_plan(const PlanKey& key, std::uint64_t hash, std::shared_ptr<Context> context,
                                   const tessera_desc* desc, const PlanOptions& options) {
  auto made = std::make_unique<tessera_plan>();
  std::shared_ptr<const Plan> original;
  {
    const std::lock_guard lock(mutex_);
    Shelf* const known = find(key, hash);
    Shelf& shelf = known != nullptr ? *known : add(key, hash, context.get(), options.prepared.get());
    ++shelf.lent, ++state_.lent, ++state_.made;
    original = shelf.original.lock();
    made->home = &shelf;
  }
  try {
    PlanOptions shared = options;
    shared.contexts = this;
    made->plan =
        original != nullptr ? std::make_shared<Plan>(*original) : core::make_plan(std::move(context), desc, shared);
    clear_at_exit(made->plan->context().backend());
  } catch (...) {
    give_back(made.release());
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (made->home->original.expired()) made->home->original = made->plan;
  return made.release();
}

/// Once for each backend, behind its first use: then it runs before what the backend wants to be done at the end.
void PlanCache::clear_at_exit(const Backend& backend) {
  const std::lock_guard lock(mutex_);
  if (std::find(cleared_at_exit_.begin(), cleared_at_exit_.end(), &backend) != cleared_at_exit_.end()) return;
  cleared_at_exit_.push_back(&backend);
  if (std::atexit([] { instance().clear(); }) == 0) return;
  cleared_at_exit_.pop_back();
  throw std::bad_alloc();
}

void PlanCache::give_back(tessera_plan* plan) noexcept {
  Plans back(plan), gone;
  Shelves empty;
  {
    const std::lock_guard lock(mutex_);
    Shelf& shelf = *back->home;
    --shelf.lent;
    if (shelf.current) --state_.lent;
    const bool sound = back->plan != nullptr && !back->plan->context().dead();
    if (shelf.current && sound && back->plan->bytes() <= state_.limits.bytes) put(shelf, std::move(back));
    trim(gone, empty);
    remove_if_empty(shelf, empty);
  }
  destroy(std::move(back));
  destroy(std::move(gone));
}

void PlanCache::clear() noexcept {
  retire_if([](const Shelf&) { return true; });
}

void PlanCache::drop(const Context& context) noexcept {
  retire_if([&](const Shelf& shelf) { return shelf.context == &context; });
}

void PlanCache::drop(const Prepared& prepared) noexcept {
  retire_if([&](const Shelf& shelf) { return shelf.prepared == &prepared; });
}

template <class Condition>
void PlanCache::retire_if(Condition condition) noexcept {
  Plans gone;
  Shelves empty;
  {
    const std::lock_guard lock(mutex_);
    for (auto next = shelves_.begin(); next != shelves_.end();) {
      Shelf& shelf = **next++;
      if (condition(shelf)) retire(shelf, gone, empty);
    }
  }
  destroy(std::move(gone));
}

void PlanCache::limit(const Limits& limits) noexcept {
  Plans gone;
  Shelves empty;
  {
    const std::lock_guard lock(mutex_);
    state_.limits = limits;
    trim(gone, empty);
  }
  destroy(std::move(gone));
}

PlanCache::State PlanCache::state() {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::shared_ptr<Context> PlanCache::context(Backend& backend, int device, int threads) {
  {
    const std::lock_guard lock(mutex_);
    if (auto known = known_context(backend, device, threads)) return known;
  }
  auto made = std::make_shared<Context>(backend, device, nullptr, false, threads);
  const std::lock_guard lock(mutex_);
  if (auto known = known_context(backend, device, threads)) return known;  // another thread was quicker
  contexts_.push_back(made);
  return made;
}

std::shared_ptr<Context> PlanCache::known_context(const Backend& backend, int device, int threads) {
  std::erase_if(contexts_, [](const auto& context) { return context.expired(); });
  for (const auto& weak : contexts_) {
    auto context = weak.lock();
    if (context != nullptr && &context->backend() == &backend && context->device() == device &&
        context->threads() == threads && !context->dead())
      return context;
  }
  return nullptr;
}

Shelf* PlanCache::find(const PlanKey& key, std::uint64_t hash) {
  const auto [first, last] = index_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    Shelf& shelf = *entry->second;
    if (!std::ranges::equal(shelf.key, key.words())) continue;
    shelves_.splice(shelves_.begin(), shelves_, shelf.place);
    return &shelf;
  }
  return nullptr;
}

Shelf& PlanCache::add(const PlanKey& key, std::uint64_t hash, const Context* context, const Prepared* prepared) {
  auto made = std::make_unique<Shelf>();
  Shelf& shelf = *made;
  shelf.key.assign(key.words().begin(), key.words().end());
  shelf.hash = hash;
  shelf.context = context, shelf.prepared = prepared;
  Shelves one;
  one.push_back(std::move(made));
  index_.emplace(hash, &shelf);
  shelf.place = one.begin();
  shelves_.splice(shelves_.begin(), one);
  return shelf;
}

/// Its idle plans go, and it with them or with the last that is lent.
void PlanCache::retire(Shelf& shelf, Plans& gone, Shelves& empty) {
  while (shelf.idle != nullptr) push(gone, take(shelf));
  forget(shelf);
  shelf.current = false;
  state_.lent -= shelf.lent;
  retired_.splice(retired_.end(), shelves_, shelf.place);
  remove_if_empty(shelf, empty);
}

void PlanCache::put(Shelf& shelf, Plans plan) {
  ++state_.idle;
  state_.bytes += plan->plan->bytes();
  push(shelf.idle, std::move(plan));
}

PlanCache::Plans PlanCache::take(Shelf& shelf) {
  Plans plan = std::move(shelf.idle);
  shelf.idle = std::move(plan->next);
  --state_.idle;
  state_.bytes -= plan->plan->bytes();
  return plan;
}

/// The least recently asked for go until the rest is within the limits.
void PlanCache::trim(Plans& gone, Shelves& empty) {
  for (auto last = shelves_.end(); last != shelves_.begin();) {
    if (state_.idle <= state_.limits.plans && state_.bytes <= state_.limits.bytes) return;
    Shelf& shelf = **--last;
    if (shelf.idle == nullptr) continue;
    push(gone, take(shelf));
    ++last;  // again, or what was behind it
    remove_if_empty(shelf, empty);
  }
}

void PlanCache::remove_if_empty(Shelf& shelf, Shelves& empty) {
  if (shelf.lent != 0 || shelf.idle != nullptr) return;
  if (shelf.current) forget(shelf);
  Shelves& holder = shelf.current ? shelves_ : retired_;
  empty.splice(empty.end(), holder, shelf.place);
}

void PlanCache::forget(Shelf& shelf) {
  const auto [first, last] = index_.equal_range(shelf.hash);
  for (auto entry = first; entry != last; ++entry)
    if (entry->second == &shelf) {
      index_.erase(entry);
      return;
    }
}

}  // namespace tessera::core
