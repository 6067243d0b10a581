// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "nccl.hpp"

#include "driver.hpp"
#include "together.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace tessera::distributed {
namespace {

/// As nccl.h has it.
struct UniqueId {
  char bytes[128];
};
constexpr int kBytes = 0;  // ncclInt8

/// What is used of NCCL, by name and as nccl.h declares it.
struct Library {
  int (*get_unique_id)(UniqueId*);
  int (*comm_init_rank)(void**, int, UniqueId, int);
  int (*comm_destroy)(void*);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void*, std::size_t, int, int, void*, void*);
  int (*receive)(void*, std::size_t, int, int, void*, void*);
  const char* (*error_string)(int);

  /// Loaded once; throws where something is missing.
  static const Library& get() {
    static const Library library;
    return library;
  }

  void check(int status, const char* what) const {
    if (status != 0) throw Error(TESSERA_DEVICE_ERROR, std::string("NCCL: ") + what + ": " + error_string(status));
  }

 private:
  Library() {
    void* const nccl = open_library("libnccl.so.2");
    find(nccl, "ncclGetUniqueId", get_unique_id), find(nccl, "ncclCommInitRank", comm_init_rank);
    find(nccl, "ncclCommDestroy", comm_destroy), find(nccl, "ncclGroupStart", group_start);
    find(nccl, "ncclGroupEnd", group_end), find(nccl, "ncclSend", send), find(nccl, "ncclRecv", receive);
    find(nccl, "ncclGetErrorString", error_string);
  }
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(find_function(library, name));
  }
};

}  // namespace

std::shared_ptr<Nccl> Nccl::join(Comm& comm, tessera_context* context, std::string& why_not) {
  void* device = nullptr;
  why_not = first_failure(comm, outcome_of([&] {
                            device = Driver::get().device_of(context);
                            Library::get();
                          }));
  if (!why_not.empty()) return nullptr;
  Comm::Devices& known = comm.devices();
  const bool same = known.device == device;
  std::vector<unsigned char> all(std::size_t(comm.size()));
  comm.all_gather(&same, all.data(), sizeof same);
  if (std::find(all.begin(), all.end(), 0) != all.end()) {
    known = {};
    known.nccl = start(comm, device, known.why_not);
    known.device = device;
  }
  why_not = known.why_not;
  return known.nccl;
}

/// Collective: NCCL has one rank a device, and the ranks of other devices would wait for those that it refuses.
std::string Nccl::shared_device(Comm& comm, void* device) {
  std::array<unsigned char, 16> mine{};
  if (std::string failure = first_failure(comm, outcome_of([&] { mine = Driver::get().identity_of(device); }));
      !failure.empty())
    return failure;
  std::vector<std::array<unsigned char, 16>> all(std::size_t(comm.size()));
  comm.all_gather(mine.data(), all.data(), sizeof mine);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (all[i] == all[j]) return "ranks " + std::to_string(j) + " and " + std::to_string(i) + " have one device";
  return {};
}

std::shared_ptr<Nccl> Nccl::start(Comm& comm, void* device, std::string& why_not) {
  if (why_not = shared_device(comm, device); !why_not.empty()) return nullptr;
  std::shared_ptr<Nccl> made;
  UniqueId id{};
  const Outcome first = outcome_of([&] {
    made.reset(new Nccl(device));
    if (comm.rank() == 0) Library::get().check(Library::get().get_unique_id(&id), "an id");
  });
  why_not = first_failure(comm, first);
  if (!why_not.empty()) return nullptr;
  comm.broadcast(&id, sizeof id, 0);
  why_not = first_failure(comm, outcome_of([&] {
                            const CurrentDevice current(device);
                            const Library& library = Library::get();
                            library.check(library.comm_init_rank(&made->handle_, comm.size(), id, comm.rank()),
                                          "joining the group");
                          }));
  return why_not.empty() ? made : nullptr;
}

Nccl::~Nccl() {
  if (handle_ == nullptr) return;
  try {
    const CurrentDevice current(device_);
    Library::get().comm_destroy(handle_);
  } catch (const Error&) {  // the device is gone, and with it what was to be given up
  }
}

void Nccl::exchange(void* stream, const std::vector<Part>& sent, const std::vector<Part>& received) {
  const Library& library = Library::get();
  const CurrentDevice current(device_);
  library.check(library.group_start(), "a group of messages");
  int failed = 0;
  for (const Part& part : sent)
    if (failed == 0) failed = library.send(part.data, part.bytes, kBytes, part.peer, handle_, stream);
  for (const Part& part : received)
    if (failed == 0) failed = library.receive(part.data, part.bytes, kBytes, part.peer, handle_, stream);
  library.check(library.group_end(), "sending and receiving");
  library.check(failed, "sending and receiving");
}

}  // namespace tessera::distributed
