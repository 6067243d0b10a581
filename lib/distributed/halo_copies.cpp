// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "halo_copies.hpp"

#include "direct_copies.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace tessera::distributed {

HaloCopies::Marks::Marks(void* device) {
  for (int i = 0; i < kRounds; ++i) {
    ready.push_back(std::make_unique<DeviceEvent>(device));
    read.push_back(std::make_unique<DeviceEvent>(device));
  }
}

HaloCopies::HaloCopies(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier)
    : comm_(std::move(comm)),
      device_(Driver::get().device_of(context)),
      stream_(stream_of(context)),
      copies_(stream_of(copier)) {}

std::unique_ptr<HaloCopies> HaloCopies::join(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                             tessera_context* copier, std::string& why_not) {
  std::unique_ptr<HaloCopies> made;
  why_not = first_failure(*comm, outcome_of([&] { made.reset(new HaloCopies(comm, context, copier)); }));
  if (why_not.empty()) made->marks_ = of_all_ranks<Marks>(*comm, made->device_, why_not);
  if (!why_not.empty()) made.reset();
  return made;
}

bool HaloCopies::begin(const std::vector<void*>& arrays) {
  struct Begin {
    std::int64_t open, round;
  };
  const bool open = std::all_of(arrays.begin(), arrays.end(), [](void* a) { return Driver::get().is_open(a); });
  const Begin mine{open, round_};
  std::vector<Begin> all(std::size_t(comm_->size()));
  comm_->all_gather(&mine, all.data(), sizeof mine);
  // Nobody waits for anybody here. Counters go on from one number, also where a rank has failed before.
  for (const Begin& begin : all) round_ = std::max(round_, begin.round);
  first_ = round_;
  Marks& own = *marks_[std::size_t(comm_->rank())];
  own.failed = false, own.ready_rounds = round_, own.read_rounds = round_;
  std::vector<void*> list = arrays;
  list.push_back(nullptr);  // so that the ranks meet also where there is none
  array_count_ = list.size();
  arrays_.resize(list.size() * all.size());
  comm_->all_gather(list.data(), arrays_.data(), list.size() * sizeof(void*));
  return std::all_of(all.begin(), all.end(), [](const Begin& begin) { return begin.open != 0; });
}

/// Until another rank's thread has come so far.
void HaloCopies::wait_until(const std::atomic<std::int64_t>& count, std::int64_t rounds, int rank) const {
  constexpr int kTries = 1000;
  for (int tries = 0; count.load(std::memory_order_acquire) < rounds; ++tries) {
    if (marks_[std::size_t(rank)]->failed)
      throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(rank) + " has failed; its own error tells why");
    if (tries > kTries) std::this_thread::yield();
  }
}

void HaloCopies::queue(const std::vector<Halos>& halos, const std::vector<void*>& arrays) {
  Marks& own = *marks_[std::size_t(comm_->rank())];
  const auto slot = std::size_t(round_ % kRounds);
  own.ready[slot]->record(copies_);
  own.ready_rounds.store(++round_, std::memory_order_release);
  readers_.clear();
  std::vector<int> ready;  // neighbours whose arrays can be read
  for (std::size_t i = 0; i < halos.size(); ++i) {
    for (const Decomposition::Halo& halo : halos[i].sent) add_once(readers_, halo.peer);
    for (const Decomposition::Halo& halo : halos[i].received) {
      if (!add_once(ready, halo.peer)) continue;
      const Marks& peer = *marks_[std::size_t(halo.peer)];
      wait_until(peer.ready_rounds, round_, halo.peer);
      peer.ready[slot]->hold(device_, copies_);
    }
    copy(halos[i], arrays[i]);
  }
  own.read[slot]->record(copies_);
  own.read_rounds.store(round_, std::memory_order_release);
}

/// What is received of an array.
void HaloCopies::copy(const Halos& halos, void* array) {
  const auto* const own = arrays_.data() + array_count_ * std::size_t(comm_->rank());
  const auto place = std::size_t(std::find(own, own + array_count_, array) - own);
  const std::int64_t element = halos.array.element;
  for (std::size_t h = 0; h < halos.received.size(); ++h) {
    const Decomposition::Halo& halo = halos.received[h];
    const void* const theirs = arrays_[array_count_ * std::size_t(halo.peer) + place];
    const auto bytes = std::size_t(halo.box.points() * element);
    Driver::get().copy(
        device_, copies_,
        {at(theirs, halos.sources[h]), at(array, halos.array.offset(halo.box.low) * element), bytes, bytes, 1, bytes});
  }
}

void HaloCopies::wait_for_readers(int rounds_ago) {
  hold_readers(round_ - rounds_ago, stream_);
  hold_readers(round_ - rounds_ago, copies_);
}

/// A stream waits until others have read what was shown in so many rounds.
void HaloCopies::hold_readers(std::int64_t rounds, void* stream) {
  if (rounds <= first_) return;
  for (const int reader : readers_) {
    const Marks& marks = *marks_[std::size_t(reader)];
    wait_until(marks.read_rounds, rounds, reader);
    marks.read[std::size_t((rounds - 1) % kRounds)]->hold(device_, stream);
  }
}

}  // namespace tessera::distributed
