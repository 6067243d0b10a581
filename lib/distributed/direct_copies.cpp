// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "direct_copies.hpp"

#include <algorithm>
#include <random>

namespace tessera::distributed {
namespace {

/// What only ranks of this process know.
std::uint64_t process_token() {
  static const std::uint64_t token = [] {
    std::random_device random;
    return std::uint64_t(random()) << 32 | random();
  }();
  return token;
}

}  // namespace

bool add_once(std::vector<int>& ranks, int rank) {
  if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return false;
  ranks.push_back(rank);
  return true;
}

std::unique_ptr<Carrier> DirectCopies::join(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                            tessera_context* copier, std::string& why_not) {
  std::unique_ptr<DirectCopies> made;
  why_not = first_failure(*comm, outcome_of([&] { made.reset(new DirectCopies(comm, context, copier)); }));
  if (why_not.empty()) made->marks_ = of_all_ranks<Marks>(*comm, made->device_, why_not);
  if (!why_not.empty()) made.reset();
  return made;
}

DirectCopies::DirectCopies(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier)
    : comm_(std::move(comm)),
      context_(context),
      copier_(copier),
      device_(Driver::get().device_of(context)),
      stream_(stream_of(context)),
      copies_(stream_of(copier)) {}

std::string why_no_reach(Comm& comm, void* device) {
  struct Place {
    std::uint64_t process;
    void* device;
  };
  const Place mine{process_token(), device};
  std::vector<Place> all(std::size_t(comm.size()));
  comm.all_gather(&mine, all.data(), sizeof mine);
  for (const Place& place : all)
    if (place.process != all.front().process) return "ranks are of several processes";
  return first_failure(comm, outcome_of([&] {
                         for (const Place& place : all)
                           if (!Driver::get().reaches(device, place.device))
                             throw Error(TESSERA_UNSUPPORTED, "devices do not reach each other's memory");
                       }));
}

void DirectCopies::expect(std::vector<Messages> all, std::int64_t element) {
  all_ = std::move(all), element_ = element;
  arrays_.resize(std::size_t(comm_->size()));
  for (const Messages& messages : all_) {
    for (const Message& message : messages.received)
      if (message.peer != comm_->rank()) add_once(read_, message.peer);
    for (const Message& message : messages.sent) {
      if (message.peer == comm_->rank()) continue;
      add_once(readers_, message.peer);
      for (const Piece& piece : message.pieces)
        shown_[message.factor] =
            std::max(shown_[message.factor], piece.from + (piece.count - 1) * piece.from_apart + piece.length);
    }
  }
}

/// An array as other devices can read it: itself, or a copy, where its memory is that of a pool.
const void* DirectCopies::opened(std::size_t factor, const void* array) {
  if (shown_[factor] == 0 || Driver::get().is_open(array)) return array;
  BufferHandle& copy = copies_of_arrays_[factor];
  const std::int64_t bytes = shown_[factor] * element_;
  if (copy == nullptr) copy = make_buffer(context_, bytes);
  void* const target = tessera_buffer_data(copy.get());
  Driver::get().copy(device_, stream_, {array, target, std::size_t(bytes), std::size_t(bytes), 1, std::size_t(bytes)});
  return target;
}

void DirectCopies::begin(const std::array<const void*, kFactors>& arrays, Attempts& attempts) {
  const std::size_t own = std::size_t(comm_->rank());
  Arrays shown = arrays;
  attempts.run([&] {
    call(tessera_context_wait_for, copier_, context_);
    for (std::size_t factor = 0; factor < kFactors; ++factor) shown[factor] = opened(factor, arrays[factor]);
    marks_[own]->ready.record(stream_);
  });
  comm_->all_gather(&shown, arrays_.data(), sizeof shown);
  arrays_[own] = arrays;
  attempts.run([&] {
    for (const int peer : read_) marks_[std::size_t(peer)]->ready.hold(device_, copies_);
  });
}

void DirectCopies::queue(std::size_t product, const std::array<void*, kFactors>& gathered) {
  for (const Message& message : all_[product].received)
    for (const Piece& piece : message.pieces)
      Driver::get().copy(
          device_, copies_,
          lines_of(piece, element_, arrays_[std::size_t(message.peer)][message.factor], gathered[message.factor]));
}

void DirectCopies::leave() noexcept {
  try {
    for (const int peer : readers_) marks_[std::size_t(peer)]->done.hold(device_, stream_);
  } catch (const Error&) {  // the device is gone, and with it the arrays
  }
}

}  // namespace tessera::distributed
