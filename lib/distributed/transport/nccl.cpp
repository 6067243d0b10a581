// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver.hpp"
#include "transport.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tessera::distributed {

/// Messages between the memories of devices by NCCL, which is loaded where it is there.
class Nccl {
 public:
  explicit Nccl(void* on) : device(on) {}
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// A piece of the device's memory, to or from a rank. Those of two ranks meet in the order of the lists.
  struct Part {
    void* data;
    std::size_t bytes;
    int peer;
  };
  /// Queues all of them together on a stream of the device.
  void exchange(void* stream, const std::vector<Part>& sent, const std::vector<Part>& received);

  void* device;
  void* handle = nullptr;
};

namespace {

/// As nccl.h has it.
struct UniqueId {
  char bytes[128];
};
constexpr int kBytes = 0;  // ncclInt8

/// What is used of NCCL, by name and as nccl.h declares it.
struct NcclFunctions {
  int (*get_unique_id)(UniqueId*);
  int (*comm_init_rank)(void**, int, UniqueId, int);
  int (*comm_destroy)(void*);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void*, std::size_t, int, int, void*, void*);
  int (*receive)(void*, std::size_t, int, int, void*, void*);
  const char* (*error_string)(int);

  NcclFunctions() {
    void* const nccl = open_library("libnccl.so.2");
    find(nccl, "ncclGetUniqueId", get_unique_id), find(nccl, "ncclCommInitRank", comm_init_rank);
    find(nccl, "ncclCommDestroy", comm_destroy), find(nccl, "ncclGroupStart", group_start);
    find(nccl, "ncclGroupEnd", group_end), find(nccl, "ncclSend", send), find(nccl, "ncclRecv", receive);
    find(nccl, "ncclGetErrorString", error_string);
  }
  /// Loaded once; throws where something is missing.
  static const NcclFunctions& get() {
    static const NcclFunctions library;
    return library;
  }
  void check(int status, const char* what) const {
    if (status != 0) throw Error(TESSERA_DEVICE_ERROR, std::string("NCCL: ") + what + ": " + error_string(status));
  }
};

/// Collective: NCCL has one rank a device, and the ranks of other devices would wait for those that it refuses.
std::string shared_device(Comm& comm, void* device) {
  std::array<unsigned char, 16> mine{};
  if (std::string failure = first_failure(comm, outcome_of([&] { mine = driver::identity_of(device); }));
      !failure.empty())
    return failure;
  std::vector<std::array<unsigned char, 16>> all(std::size_t(comm.size()));
  comm.all_gather(mine.data(), all.data(), sizeof mine);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (all[i] == all[j]) return "ranks " + std::to_string(j) + " and " + std::to_string(i) + " have one device";
  return {};
}

/// Collective: joins, or says why not.
std::shared_ptr<Nccl> start(Comm& comm, void* device, std::string& why_not) {
  if (why_not = shared_device(comm, device); !why_not.empty()) return nullptr;
  std::shared_ptr<Nccl> made;
  UniqueId id{};
  const Outcome first = outcome_of([&] {
    made = std::make_shared<Nccl>(device);
    if (comm.rank() == 0) NcclFunctions::get().check(NcclFunctions::get().get_unique_id(&id), "an id");
  });
  why_not = first_failure(comm, first);
  if (!why_not.empty()) return nullptr;
  comm.broadcast(&id, sizeof id, 0);
  why_not = first_failure(comm, outcome_of([&] {
                            const driver::Current current(device);
                            const NcclFunctions& library = NcclFunctions::get();
                            library.check(library.comm_init_rank(&made->handle, comm.size(), id, comm.rank()),
                                          "joining the group");
                          }));
  return why_not.empty() ? made : nullptr;
}

/// Collective: all ranks get one for the devices of their contexts, or none does and `why_not` says why. The group
/// keeps it, since joining takes a large part of a second.
std::shared_ptr<Nccl> joined(Comm& comm, tessera_context* context, std::string& why_not) {
  void* device = nullptr;
  why_not = first_failure(comm, outcome_of([&] {
                            device = driver::device_of(context);
                            NcclFunctions::get();
                          }));
  if (!why_not.empty()) return nullptr;
  Comm::Devices& known = comm.devices();
  if (agree(comm, {}, known.device != device)) {
    known = {};
    known.nccl = start(comm, device, known.why_not);
    known.device = device;
  }
  why_not = known.why_not;
  return known.nccl;
}

/// Bytes of messages to and from others that must be packed.
std::int64_t packed(const std::vector<Message>& messages, int rank, bool (Message::*is_dense)() const) {
  std::int64_t bytes = 0;
  for (const Message& message : messages)
    if (message.peer != rank && !(message.*is_dense)()) bytes += message.bytes();
  return bytes;
}

void* begin_of(const BufferHandle& buffer) { return buffer == nullptr ? nullptr : tessera_buffer_data(buffer.get()); }

/// Messages are packed where they are not one dense piece.
class NcclMessages : public Transport {
 public:
  NcclMessages(std::shared_ptr<Nccl> nccl, int rank, tessera_context* context, tessera_context* copier)
      : nccl_(std::move(nccl)),
        rank_(rank),
        context_(context),
        device_(driver::device_of(copier)),
        stream_(stream_of(copier)) {}

  std::string name() const override { return "by NCCL"; }

  void expect(std::vector<Messages> exchanges) override {
    exchanges_ = std::move(exchanges);
    std::int64_t sent = 0, received = 0;
    for (const Messages& messages : exchanges_) {
      sent = std::max(sent, packed(messages.sent, rank_, &Message::is_dense_from));
      received = std::max(received, packed(messages.received, rank_, &Message::is_dense_to));
    }
    packed_sent_ = sent > 0 ? make_buffer(context_, sent) : nullptr;
    packed_received_ = received > 0 ? make_buffer(context_, received) : nullptr;
  }

  void begin(std::size_t exchange, const Arrays& from, const Arrays& to, Progress& progress) override {
    progress.run([&] {
      std::vector<Copy> copies;
      const std::vector<Part> sent = pack(exchanges_[exchange].sent, from);
      const std::vector<Part> received = unpack(exchanges_[exchange].received, from, to, copies);
      if (!sent.empty() || !received.empty()) nccl_->exchange(stream_, sent, received);
      for (const Copy& copy : copies) queue(copy);
    });
  }

 private:
  using Part = Nccl::Part;
  struct Copy {
    Piece piece;
    std::int64_t element;
    const void* from;
    void* to;
  };
  void queue(const Copy& copy) const { queue_copy(device_, stream_, copy.piece, copy.element, copy.from, copy.to); }

  /// What this rank sends, packed where it must be.
  std::vector<Part> pack(const std::vector<Message>& messages, const Arrays& from) const {
    std::vector<Part> parts;
    void* packed = begin_of(packed_sent_);
    for (const Message& message : messages) {
      if (message.peer == rank_) continue;
      const void* const array = from[message.array];
      const bool dense = message.is_dense_from();
      void* const begin = dense ? at(array, message.first().from * message.element) : packed;
      parts.push_back({begin, std::size_t(message.bytes()), message.peer});
      if (dense) continue;
      message.for_each_piece([&](const Piece& piece) {
        queue({piece.into_packed(), message.element, array, packed});
        packed = at(packed, piece.elements() * message.element);
      });
    }
    return parts;
  }

  /// What this rank receives, and what is copied then: out of packed messages, and its own pieces.
  std::vector<Part> unpack(const std::vector<Message>& messages, const Arrays& from, const Arrays& to,
                           std::vector<Copy>& copies) const {
    std::vector<Part> parts;
    void* packed = begin_of(packed_received_);
    for (const Message& message : messages) {
      void* const target = to[message.array];
      const bool own = message.peer == rank_, dense = message.is_dense_to();
      void* const begin = dense ? at(target, message.first().to * message.element) : packed;
      if (!own) parts.push_back({begin, std::size_t(message.bytes()), message.peer});
      if (!own && dense) continue;
      message.for_each_piece([&](const Piece& piece) {
        if (own) return copies.push_back({piece, message.element, from[message.array], target});
        copies.push_back({piece.out_of_packed(), message.element, packed, target});
        packed = at(packed, piece.elements() * message.element);
      });
    }
    return parts;
  }

  std::shared_ptr<Nccl> nccl_;
  int rank_;
  tessera_context* context_;
  void *device_, *stream_;  ///< the copier's
  std::vector<Messages> exchanges_;
  BufferHandle packed_sent_, packed_received_;
};

}  // namespace

Nccl::~Nccl() {
  if (handle == nullptr) return;
  try {
    const driver::Current current(device);
    NcclFunctions::get().comm_destroy(handle);
  } catch (const Error&) {  // the device is gone, and with it what was to be given up
  }
}

void Nccl::exchange(void* stream, const std::vector<Part>& sent, const std::vector<Part>& received) {
  const NcclFunctions& library = NcclFunctions::get();
  const driver::Current current(device);
  library.check(library.group_start(), "a group of messages");
  int failed = 0;
  for (const Part& part : sent)
    if (failed == 0) failed = library.send(part.data, part.bytes, kBytes, part.peer, handle, stream);
  for (const Part& part : received)
    if (failed == 0) failed = library.receive(part.data, part.bytes, kBytes, part.peer, handle, stream);
  library.check(library.group_end(), "sending and receiving");
  library.check(failed, "sending and receiving");
}

std::unique_ptr<Transport> Transport::by_nccl(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                              tessera_context* copier, std::string& why_not) {
  std::unique_ptr<Transport> made;
  std::shared_ptr<Nccl> nccl = joined(*comm, context, why_not);
  if (nccl == nullptr) return made;
  why_not = first_failure(*comm, outcome_of([&] {
    made = std::make_unique<NcclMessages>(std::move(nccl), comm->rank(), context, copier);
  }));
  if (!why_not.empty()) made.reset();
  return made;
}

}  // namespace tessera::distributed
