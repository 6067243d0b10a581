// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// MPI's ranks as a group of tessera/distributed.h. The program compiles this header with its own MPI: no library of
/// Tessera knows MPI, whose implementations differ in their ABI. Programs link the CMake target tessera::mpi. C++17 has
/// transport(), C++20 has comm() as well.
///
/// MPI is initialized before and finalized after a group is used. Where MPI_Init_thread has provided less than
/// MPI_THREAD_SERIALIZED, only the thread that initialized MPI may use a group; another one gets an error. With
/// MPI_THREAD_SERIALIZED the program sees to it that one thread at a time calls MPI or uses a group.
///
/// A failure of MPI is a TESSERA_DEVICE_ERROR with MPI's text. MPICH gives those of MPI_Wait to the error handler of
/// MPI_COMM_WORLD, which ends the program unless that is told to return them.
///
/// MPI cannot tell the others that a rank has given up, so they wait for it. A rank that fails alone ends the program:
/// by MPI_Abort, or by an exception that nobody catches.
#pragma once

#include <mpi.h>
#include <tessera/distributed.h>
#include <tessera/plugin/error.hpp>
#if __cplusplus >= 202002L
#include <tessera/distributed.hpp>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::mpi {

namespace detail {

using plugin::Error;

/// Bytes of one call of MPI at most, whose counts are int.
inline constexpr std::uint64_t kLargestPiece = std::uint64_t{1} << 30;

/// A message in pieces.
struct Message {
  std::vector<MPI_Request> pieces;  ///< none: it is not on its way
  std::uint64_t bytes = 0;
  int peer = 0, tag = 0;
  bool incoming = false;

  std::string text() const {
    return std::to_string(bytes) + (incoming ? " bytes from rank " : " bytes to rank ") + std::to_string(peer) +
           " with tag " + std::to_string(tag);
  }
};

/// Whether MPI is initialized and not finalized yet.
inline bool is_running() noexcept {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

inline std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  return MPI_Error_string(code, text, &length) == MPI_SUCCESS ? text : "error " + std::to_string(code);
}

inline void expect(int code, const char* function) {
  if (code != MPI_SUCCESS) throw Error(TESSERA_DEVICE_ERROR, function + (": " + text_of(code)));
}
inline void expect(int code, const char* function, const Message& message) {
  if (code != MPI_SUCCESS)
    throw Error(TESSERA_DEVICE_ERROR, function + (" of " + message.text()) + ": " + text_of(code));
}

/// What stands behind a tessera_transport.
class Transport {
 public:
  explicit Transport(std::uint64_t largest_piece) : largest_piece_(largest_piece) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport() {
    abandon();
    // Collective by its definition, which expects it to be local: it waits for no other rank.
    if (comm_ != MPI_COMM_NULL && may_call()) MPI_Comm_free(&comm_);
  }

  void open(MPI_Comm communicator) {
    require_running();
    int level = 0, is_inter = 0;
    expect(MPI_Query_thread(&level), "MPI_Query_thread");
    main_thread_alone_ = level < MPI_THREAD_SERIALIZED;
    require_thread();
    if (communicator == MPI_COMM_NULL)
      throw Error(TESSERA_INVALID_ARGUMENT, "communicator = MPI_COMM_NULL: must have this process among its ranks");
    expect(MPI_Comm_test_inter(communicator, &is_inter), "MPI_Comm_test_inter");
    if (is_inter != 0)
      throw Error(TESSERA_INVALID_ARGUMENT, "communicator: is between two groups; merge them (MPI_Intercomm_merge)");
    // Without its hints: one of them lets messages overtake each other.
    expect(MPI_Comm_dup_with_info(communicator, MPI_INFO_NULL, &comm_), "MPI_Comm_dup_with_info");
    expect(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    expect(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    expect(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    int* bound = nullptr;
    int is_set = 0;
    expect(MPI_Comm_get_attr(comm_, MPI_TAG_UB, &bound, &is_set), "MPI_Comm_get_attr");
    if (is_set != 0) largest_tag_ = *bound;
  }

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Runs `body`. Once one has failed, all that follow fail, too.
  template <class Body>
  tessera_status run(tessera_error* error, Body&& body) noexcept {
    const tessera_status status = plugin::guard(error, [&] {
      if (failed_) throw Error(TESSERA_DEVICE_ERROR, "the group of rank " + std::to_string(rank_) + " failed before");
      require_running();
      require_thread();
      body();
    });
    if (status != TESSERA_OK && !failed_) {
      failed_ = true;
      abandon();
    }
    return status;
  }

  void broadcast(void* data, std::uint64_t bytes, int root) {
    require_rank("root", root);
    for (std::uint64_t at = 0; at < bytes; at += largest_piece_)
      expect(MPI_Bcast(static_cast<char*>(data) + at, length(bytes, at), MPI_BYTE, root, comm_), "MPI_Bcast");
  }

  void all_gather(const void* mine, void* all, std::uint64_t bytes) {
    if (bytes == 0) return;
    char* const parts = static_cast<char*>(all);
    std::memmove(parts + std::uint64_t(rank_) * bytes, mine, bytes);
    if (bytes <= largest_piece_ / std::uint64_t(size_)) {
      const int count = static_cast<int>(bytes);
      expect(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_BYTE, comm_), "MPI_Allgather");
    } else {
      for (int root = 0; root < size_; ++root) broadcast(parts + std::uint64_t(root) * bytes, bytes, root);
    }
  }

  void all_reduce(std::int64_t* values, std::uint64_t count) {
    expect(MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_INT64_T, MPI_MAX, comm_), "MPI_Allreduce");
  }

  Message* send(const void* data, std::uint64_t bytes, int peer, int tag) {
    Message& message = begin(bytes, peer, tag, false);
    for (std::size_t i = 0; i < message.pieces.size(); ++i) {
      const std::uint64_t at = i * largest_piece_;
      const char* const piece = static_cast<const char*>(data) + at;
      expect(MPI_Isend(piece, length(bytes, at), MPI_BYTE, peer, tag, comm_, &message.pieces[i]), "MPI_Isend", message);
    }
    return &message;
  }

  Message* receive(void* data, std::uint64_t bytes, int peer, int tag) {
    Message& message = begin(bytes, peer, tag, true);
    for (std::size_t i = 0; i < message.pieces.size(); ++i) {
      const std::uint64_t at = i * largest_piece_;
      char* const piece = static_cast<char*>(data) + at;
      expect(MPI_Irecv(piece, length(bytes, at), MPI_BYTE, peer, tag, comm_, &message.pieces[i]), "MPI_Irecv", message);
    }
    return &message;
  }

  void wait(Message* message) {
    if (message == nullptr || message->pieces.empty())
      throw Error(TESSERA_INVALID_ARGUMENT, "request: belongs to no message that is on its way");
    for (std::size_t i = 0; i < message->pieces.size(); ++i) {
      MPI_Status status;
      expect(MPI_Wait(&message->pieces[i], &status), "MPI_Wait", *message);
      if (!message->incoming) continue;
      int count = 0;
      expect(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count", *message);
      if (count != length(message->bytes, i * largest_piece_))
        throw Error(TESSERA_INTERNAL,
                    "rank " + std::to_string(rank_) + " expects " + message->text() + "; the message is shorter");
    }
    message->pieces.clear();
    idle_.push_back(message);
  }

 private:
  static void require_running() {
    if (!is_running())
      throw Error(TESSERA_INVALID_ARGUMENT,
                  "MPI is not running: initialize it (MPI_Init) before a group of its ranks is "
                  "made or used, and finalize it afterwards");
  }
  bool is_right_thread() const noexcept {
    int is_main = 0;
    return !main_thread_alone_ || (MPI_Is_thread_main(&is_main) == MPI_SUCCESS && is_main != 0);
  }
  void require_thread() const {
    if (!is_right_thread())
      throw Error(TESSERA_INVALID_ARGUMENT,
                  "this thread may not call MPI, only the one that initialized it: ask "
                  "MPI_Init_thread for MPI_THREAD_SERIALIZED");
  }
  bool may_call() const noexcept { return is_running() && is_right_thread(); }

  void require_rank(const char* what, int rank) const {
    if (rank < 0 || rank >= size_)
      throw Error(TESSERA_INVALID_ARGUMENT, std::string(what) + " = " + std::to_string(rank) + ": must lie in [0, " +
                                                std::to_string(size_) + ")");
  }

  /// Of the piece that begins at byte `at`.
  int length(std::uint64_t bytes, std::uint64_t at) const {
    return static_cast<int>(bytes - at < largest_piece_ ? bytes - at : largest_piece_);
  }

  /// An empty message has one piece.
  Message& begin(std::uint64_t bytes, int peer, int tag, bool incoming) {
    require_rank("peer", peer);
    if (tag < 0 || tag > largest_tag_)
      throw Error(TESSERA_INVALID_ARGUMENT, "tag = " + std::to_string(tag) + ": must lie in [0, " +
                                                std::to_string(largest_tag_) + "], which is this MPI's range");
    if (idle_.empty()) {
      messages_.emplace_back();
      idle_.reserve(messages_.size());
      idle_.push_back(&messages_.back());
    }
    Message& message = *idle_.back();
    message.bytes = bytes, message.peer = peer, message.tag = tag, message.incoming = incoming;
    message.pieces.assign(bytes == 0 ? 1 : (bytes - 1) / largest_piece_ + 1, MPI_REQUEST_NULL);
    idle_.pop_back();
    return message;
  }

  /// Gives up what is on its way. Waits for nothing, since nobody may be there to send.
  void abandon() noexcept {
    if (!may_call()) return;
    for (Message& message : messages_) {
      for (MPI_Request& piece : message.pieces) {
        if (piece == MPI_REQUEST_NULL) continue;
        if (message.incoming) MPI_Cancel(&piece);
        MPI_Request_free(&piece);
      }
      message.pieces.clear();
    }
  }

  std::uint64_t largest_piece_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, largest_tag_ = 32767;
  bool main_thread_alone_ = false, failed_ = false;
  std::deque<Message> messages_;  ///< all that there were at a time; they are used again
  std::vector<Message*> idle_;
};

inline Transport& of(void* state) { return *static_cast<Transport*>(state); }

/// Collective. Makes the transport of the communicator's ranks.
inline tessera_status create(MPI_Comm communicator, std::uint64_t largest_piece, tessera_transport* made,
                             tessera_error* error) noexcept {
  return plugin::guard(error, [&] {
    auto transport = std::make_unique<Transport>(largest_piece);
    transport->open(communicator);
    tessera_transport t{};
    t.struct_size = sizeof t;
    t.rank = transport->rank(), t.size = transport->size();
    t.broadcast = [](void* state, void* data, std::uint64_t bytes, std::int32_t root, tessera_error* failure) {
      return of(state).run(failure, [&] { of(state).broadcast(data, bytes, root); });
    };
    t.all_gather = [](void* state, const void* mine, void* all, std::uint64_t bytes, tessera_error* failure) {
      return of(state).run(failure, [&] { of(state).all_gather(mine, all, bytes); });
    };
    t.all_reduce = [](void* state, std::int64_t* values, std::uint64_t count, tessera_error* failure) {
      return of(state).run(failure, [&] { of(state).all_reduce(values, count); });
    };
    t.send = [](void* state, const void* data, std::uint64_t bytes, std::int32_t peer, std::int32_t tag, void** request,
                tessera_error* failure) {
      return of(state).run(failure, [&] { *request = of(state).send(data, bytes, peer, tag); });
    };
    t.receive = [](void* state, void* data, std::uint64_t bytes, std::int32_t peer, std::int32_t tag, void** request,
                   tessera_error* failure) {
      return of(state).run(failure, [&] { *request = of(state).receive(data, bytes, peer, tag); });
    };
    t.wait = [](void* state, void* request, tessera_error* failure) {
      return of(state).run(failure, [&] { of(state).wait(static_cast<Message*>(request)); });
    };
    t.destroy = [](void* state) { delete static_cast<Transport*>(state); };
    t.state = transport.release();
    *made = t;
  });
}

}  // namespace detail

#if __cplusplus >= 202002L

/// Collective. The ranks of a communicator, for tessera_comm_create, which takes it over; else the caller calls its
/// `destroy`. The communicator is duplicated. Throws Error.
inline tessera_transport transport(MPI_Comm communicator) {
  tessera_transport made{};
  tessera::detail::call(detail::create, communicator, detail::kLargestPiece, &made);
  return made;
}

/// Collective. The ranks of a communicator, which is duplicated. Throws Error.
inline Comm comm(MPI_Comm communicator) { return Comm(transport(communicator)); }

#else

inline namespace cxx17 {  // apart from the function above, in programs that have files of both

/// The same in C++17. Throws std::runtime_error.
inline tessera_transport transport(MPI_Comm communicator) {
  tessera_transport made{};
  char message[1024] = {};
  tessera_error error{sizeof(tessera_error), TESSERA_OK, 0, message, sizeof message};
  if (detail::create(communicator, detail::kLargestPiece, &made, &error) != TESSERA_OK)
    throw std::runtime_error(message);
  return made;
}

}  // namespace cxx17

#endif

}  // namespace tessera::mpi
