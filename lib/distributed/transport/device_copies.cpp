// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver.hpp"
#include "transport.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>

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

/// Collective: "" where all ranks are of one process and their devices reach each other's memory, else why not.
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
                           if (!driver::reaches(device, place.device))
                             throw Error(TESSERA_UNSUPPORTED, "devices do not reach each other's memory");
                       }));
}

/// False where the rank is there already.
bool add_once(std::vector<int>& ranks, int rank) {
  if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return false;
  ranks.push_back(rank);
  return true;
}

constexpr int kShows = 4;  // whose events are kept; no rank is two ahead of its neighbour

/// Of a rank, for all others. Nobody begins an execution before all have ended the one before, so counters go on from
/// one to the next.
struct Marks {
  std::vector<std::unique_ptr<driver::Event>> ready, read;  ///< of a show: arrays can be read; others' have been read
  std::atomic<std::int64_t> shown{0}, done{0};              ///< how many of an execution: see count()
  std::atomic<std::int64_t> failed{0};                      ///< the last execution that has
  std::array<Arrays, 2> arrays;                             ///< of executions with even and odd numbers

  explicit Marks(void* device) {
    for (int i = 0; i < kShows; ++i) {
      ready.push_back(std::make_unique<driver::Event>(device));
      read.push_back(std::make_unique<driver::Event>(device));
    }
  }
};

/// Each rank copies what it needs out of the others' arrays. Copy engines do it, and leave the multiprocessors to the
/// computing. Ranks meet by events of their streams. Before a rank can wait for another one's event the other one's
/// thread must have recorded it: counters tell how many it has.
class DeviceCopies : public Transport {
 public:
  DeviceCopies(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier)
      : comm_(std::move(comm)),
        copier_(copier),
        device_(driver::device_of(context)),
        stream_(stream_of(context)),
        copies_(stream_of(copier)) {}

  /// Collective: each rank makes marks on its device, and all hold those of all. "" or why not.
  std::string join() {
    std::string why_not = why_no_reach(*comm_, device_);
    if (!why_not.empty()) return why_not;
    std::shared_ptr<Marks> mine;
    const std::shared_ptr<Marks>* const address = &mine;
    why_not = first_failure(*comm_, outcome_of([&] { mine = std::make_shared<Marks>(device_); }));
    if (!why_not.empty()) return why_not;
    std::vector<const std::shared_ptr<Marks>*> addresses(std::size_t(comm_->size()));
    comm_->all_gather(&address, addresses.data(), sizeof address);
    // What the addresses point to lives until all have come here.
    return first_failure(*comm_, outcome_of([&] {
      for (const std::shared_ptr<Marks>* marks : addresses) marks_.push_back(*marks);
    }));
  }

  std::string name() const override { return "by copies between devices"; }

  void expect(std::vector<Messages> exchanges) override {
    exchanges_ = std::move(exchanges);
    readers_.clear();
    for (const Messages& messages : exchanges_)
      for (const Message& message : messages.sent)
        if (message.peer != comm_->rank()) add_once(readers_, message.peer);
  }

  bool can_open(const void* array) const override { return driver::is_open(array); }

  void open(const Arrays& arrays) override {
    ++execution_, shows_ = 0;
    own().arrays[std::size_t(execution_ % 2)] = arrays;
  }

  void show(tessera_context* made_on) override {
    own().ready[std::size_t(shows_ % kShows)]->record(made_on == copier_ ? copies_ : stream_);
    ready_.clear();
    own().shown.store(count(++shows_), std::memory_order_release);
  }

  void begin(std::size_t exchange, const Arrays& from, const Arrays& to, Progress& progress) override {
    progress.run([&] {
      for (const Message& message : exchanges_[exchange].received) {
        if (message.peer != comm_->rank() && add_once(ready_, message.peer)) {
          const Marks& peer = *marks_[std::size_t(message.peer)];
          wait_until(peer.shown, shows_, message.peer);
          peer.ready[std::size_t((shows_ - 1) % kShows)]->hold(device_, copies_);
        }
        const void* const array = source(message, from);
        message.for_each_piece([&](const Piece& piece) {
          queue_copy(device_, copies_, piece, message.element, array, to[message.array]);
        });
      }
    });
  }

  void done() override {
    own().read[std::size_t((shows_ - 1) % kShows)]->record(copies_);
    own().done.store(count(shows_), std::memory_order_release);
  }

  void wait_for_readers(int shows_ago) override {
    wait_for_readers(shows_ - shows_ago, stream_);
    wait_for_readers(shows_ - shows_ago, copies_);
  }
  void close() override { wait_for_readers(shows_, stream_); }
  void fail() noexcept override { own().failed = execution_; }

 private:
  Marks& own() { return *marks_[std::size_t(comm_->rank())]; }
  std::int64_t count(std::int64_t shows) const { return execution_ << 32 | shows; }

  /// The array of a message's sender: the one in the place that its like has among those that this rank has opened.
  const void* source(const Message& message, const Arrays& from) {
    if (message.peer == comm_->rank()) return from[message.array];
    const auto slot = std::size_t(execution_ % 2);
    const Arrays& mine = own().arrays[slot];
    std::size_t place = message.array;
    if (mine[place] != from[place])
      place = std::size_t(std::find(mine.begin(), mine.end(), from[message.array]) - mine.begin());
    return marks_[std::size_t(message.peer)]->arrays[slot][place];
  }

  /// Until another rank's thread has come so far in this execution.
  void wait_until(const std::atomic<std::int64_t>& counter, std::int64_t shows, int rank) const {
    constexpr int kTries = 1000;  // some microseconds, before the processor goes to others
    for (int tries = 0; counter.load(std::memory_order_acquire) < count(shows); ++tries) {
      if (marks_[std::size_t(rank)]->failed >= execution_ || comm_->is_broken())
        throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(rank) + " has failed; its own error tells why");
      if (tries > kTries) std::this_thread::yield();
    }
  }

  /// A stream waits until others have read what was shown so many times.
  void wait_for_readers(std::int64_t shows, void* stream) {
    if (shows <= 0) return;
    for (const int reader : readers_) {
      const Marks& marks = *marks_[std::size_t(reader)];
      wait_until(marks.done, shows, reader);
      marks.read[std::size_t((shows - 1) % kShows)]->hold(device_, stream);
    }
  }

  std::shared_ptr<Comm> comm_;
  tessera_context* copier_;
  void *device_, *stream_, *copies_;
  std::vector<std::shared_ptr<Marks>> marks_;  ///< of all ranks
  std::vector<Messages> exchanges_;
  std::vector<int> readers_;                ///< who reads this rank's arrays
  std::vector<int> ready_;                  ///< ranks whose last show the copier waits for
  std::int64_t execution_ = 0, shows_ = 0;  ///< executions ever, the same on all ranks, and shows of this one
};

}  // namespace

std::unique_ptr<Transport> Transport::by_copies(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                                tessera_context* copier, std::string& why_not) {
  std::unique_ptr<DeviceCopies> made;
  why_not = first_failure(*comm, outcome_of([&] { made = std::make_unique<DeviceCopies>(comm, context, copier); }));
  if (why_not.empty()) why_not = made->join();
  if (!why_not.empty()) made.reset();
  return made;
}

void queue_copy(void* device, void* stream, const Piece& piece, std::int64_t element, const void* from, void* to) {
  const auto bytes = [element](std::int64_t elements) { return std::size_t(elements * element); };
  const std::size_t all = bytes(piece.elements());
  const void* const source = at(from, piece.from * element);
  void* const target = at(to, piece.to * element);
  if (piece.is_dense_from() && piece.is_dense_to())
    return driver::copy(device, stream, {source, target, all, all, 1, all});
  for (std::int64_t plane = 0; plane < piece.extents[0]; ++plane)
    driver::copy(device, stream,
                 {at(source, plane * piece.from_strides[0] * element),
                  at(target, plane * piece.to_strides[0] * element), bytes(piece.from_strides[1]),
                  bytes(piece.to_strides[1]), std::size_t(piece.extents[1]), bytes(piece.extents[2])});
}

std::unique_ptr<Transport> Transport::by_devices(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                                 tessera_context* copier, bool nccl_alone, std::string& why_not) {
  std::unique_ptr<Transport> made;
  std::string why_no_copies;
  if (!nccl_alone) made = by_copies(comm, context, copier, why_no_copies);
  if (made != nullptr) return made;
  made = by_nccl(comm, context, copier, why_not);
  if (made == nullptr && !nccl_alone) why_not = why_no_copies + "; " + why_not;
  return made;
}

}  // namespace tessera::distributed
