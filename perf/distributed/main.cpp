// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera-perf-distributed: the ranks are threads of this process.

#include "options.hpp"
#include "station.hpp"

#include <barrier>
#include <cstring>
#include <exception>
#include <thread>

namespace tessera::perf {
namespace {

struct Meeting {
  explicit Meeting(int count) : barrier(count), parts(std::size_t(count)) {}
  std::barrier<> barrier;
  std::vector<const void*> parts;  ///< of each rank
  std::barrier<> pair{2};          ///< the first two ranks alone
};

class ThreadGroup : public Group {
 public:
  ThreadGroup(Comm comm, Meeting& meeting) : comm_(std::move(comm)), meeting_(&meeting) {}
  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }
  int rank_on_host() const override { return comm_.rank(); }
  const Comm& comm() const override { return comm_; }
  void barrier() override { meeting_->barrier.arrive_and_wait(); }
  void all_gather(const void* mine, void* all, std::size_t bytes) override {
    meeting_->parts[std::size_t(rank())] = mine;
    barrier();
    for (std::size_t i = 0; i < meeting_->parts.size(); ++i)
      std::memcpy(static_cast<char*>(all) + i * bytes, meeting_->parts[i], bytes);
    barrier();
  }
  void exchange(const void* sent, void* received, std::size_t bytes, int peer) override {
    meeting_->parts[std::size_t(rank())] = sent;
    meeting_->pair.arrive_and_wait();
    std::memcpy(received, meeting_->parts[std::size_t(peer)], bytes);
    meeting_->pair.arrive_and_wait();
  }

 private:
  Comm comm_;
  Meeting* meeting_;
};

int run(int argc, char** argv) {
  ScalingOptions options;
  if (const int code = parse_scaling(argc, argv, options); code >= 0) return code;
  const int devices = device_count(options.backend);
  if (options.ranks == 0) options.ranks = devices > 0 ? devices : 2;
  if (options.threads == 0) options.threads = std::max(1, int(std::thread::hardware_concurrency()) / options.ranks);
  Meeting meeting(options.ranks);
  std::vector<Comm> comms = Comm::threads(options.ranks);
  std::vector<int> codes(comms.size(), 1);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < comms.size(); ++rank)
    threads.emplace_back([&, rank] {
      ThreadGroup group(std::move(comms[rank]), meeting);
      try {
        codes[rank] = run_rank(group, options, {{"transport", "threads"}}, nullptr);
      } catch (const UsageError& error) {
        if (rank == 0) std::fprintf(stderr, "tessera-perf-distributed: %s\n", error.message.c_str());
        codes[rank] = 2;
      } catch (const std::exception& error) {
        // The others wait for this rank in the middle of something: what was written is kept.
        std::fprintf(stderr, "tessera-perf-distributed: rank %zu: %s\n", rank, error.what());
        std::_Exit(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  return codes.front();
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  return tessera::perf::run_program("tessera-perf-distributed", [&] { return tessera::perf::run(argc, argv); });
}
