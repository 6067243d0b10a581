// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Ranks of one process read each other's devices: the copy engines carry the pieces, and no multiprocessor does.
#pragma once

#include "carrier.hpp"
#include "together.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::distributed {

/// Collective: "" where all ranks are of one process and their devices reach each other's memory, else why not.
std::string why_no_reach(Comm& comm, void* device);

/// Collective over ranks as above: each makes an object on its device, and all hold those of all, in the order of
/// ranks. None where there is no such way, and `why_not` says why.
template <class Object>
std::vector<std::shared_ptr<Object>> of_all_ranks(Comm& comm, void* device, std::string& why_not) {
  std::vector<std::shared_ptr<Object>> all;
  if (why_not = why_no_reach(comm, device); !why_not.empty()) return all;
  std::shared_ptr<Object> mine;
  const std::shared_ptr<Object>* const address = &mine;
  why_not = first_failure(comm, outcome_of([&] { mine = std::make_shared<Object>(device); }));
  if (!why_not.empty()) return all;
  std::vector<const std::shared_ptr<Object>*> addresses(std::size_t(comm.size()));
  comm.all_gather(&address, addresses.data(), sizeof address);
  // What the addresses point to lives until all have come here.
  why_not = first_failure(comm, outcome_of([&] {
                            for (const std::shared_ptr<Object>* object : addresses) all.push_back(*object);
                          }));
  return all;
}

/// False where the rank is there already.
bool add_once(std::vector<int>& ranks, int rank);

class DirectCopies : public Carrier {
 public:
  static std::unique_ptr<Carrier> join(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                       tessera_context* copier, std::string& why_not);

  std::string name() const override { return "copies between devices"; }
  void expect(std::vector<Messages> all, std::int64_t element) override;
  void begin(const std::array<const void*, kFactors>& arrays, Attempts& attempts) override;
  void queue(std::size_t product, const std::array<void*, kFactors>& gathered) override;
  void finish() override { marks_[std::size_t(comm_->rank())]->done.record(copies_); }
  void leave() noexcept override;

 private:
  /// Points in a rank's streams: its arrays may be read, and it reads no more. Shared by all ranks' plans.
  struct Marks {
    DeviceEvent ready, done;
    explicit Marks(void* device) : ready(device), done(device) {}
  };
  using Arrays = std::array<const void*, kFactors>;

  DirectCopies(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier);
  const void* opened(std::size_t factor, const void* array);

  std::shared_ptr<Comm> comm_;
  tessera_context *context_, *copier_;
  void *device_, *stream_, *copies_;
  std::vector<std::shared_ptr<Marks>> marks_;
  std::vector<Messages> all_;
  std::int64_t element_ = 0;
  std::vector<int> read_, readers_;             ///< other ranks whose arrays this one reads, and who read its
  std::array<std::int64_t, kFactors> shown_{};  ///< elements of the arrays that others read
  std::array<BufferHandle, kFactors> copies_of_arrays_;
  std::vector<Arrays> arrays_;
};

}  // namespace tessera::distributed
