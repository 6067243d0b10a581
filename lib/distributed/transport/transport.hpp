// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What travels from rank to rank in an execution, and by what: the group's transport through host memory, copies
/// between devices of one process, or NCCL.
#pragma once

#include "group/agreement.hpp"
#include "handles.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// Indices [from, from + length) along an axis of one array, which are [to, to + length) of another one.
struct Run {
  std::int64_t from, to, length;
};

/// Lines of contiguous elements that go from an array of one rank into one of another.
struct Piece {
  std::int64_t from = 0, to = 0;                 ///< the first element in each
  std::array<std::int64_t, 3> extents{1, 1, 1};  ///< planes, lines of each, elements of each line
  /// Elements from one plane, and from one line, to the next.
  std::array<std::int64_t, 2> from_strides{}, to_strides{};

  std::int64_t elements() const { return extents[0] * extents[1] * extents[2]; }
  bool is_dense_from() const { return is_dense(from_strides); }
  bool is_dense_to() const { return is_dense(to_strides); }
  /// The same into the begin of packed memory, or out of it.
  Piece into_packed() const { return {from, 0, extents, from_strides, {extents[1] * extents[2], extents[2]}}; }
  Piece out_of_packed() const { return {0, to, extents, {extents[1] * extents[2], extents[2]}, to_strides}; }

 private:
  bool is_dense(const std::array<std::int64_t, 2>& strides) const {
    return (extents[1] == 1 || strides[1] == extents[2]) && (extents[0] == 1 || strides[0] == extents[1] * extents[2]);
  }
};

/// Elements of one array that go together to or from a rank, which may be this one: all that are in a run of each axis.
struct Message {
  std::size_t array = 0;  ///< its place among those of an exchange
  int peer = 0;
  std::int64_t element = 1;  ///< bytes
  std::array<std::vector<Run>, 3> runs = {};
  std::array<std::int64_t, 2> from_strides{}, to_strides{};  ///< of the first two axes; the last one is contiguous
  int onward = -1;  ///< whom its receiver sends it on to, if any: through the host alone

  template <class Visit>
  void for_each_piece(Visit&& visit) const {
    for (const Run& i : runs[0])
      for (const Run& j : runs[1])
        for (const Run& k : runs[2]) visit(piece(i, j, k));
  }
  std::size_t count_pieces() const { return runs[0].size() * runs[1].size() * runs[2].size(); }
  /// The only piece of a dense message.
  Piece first() const { return piece(runs[0].front(), runs[1].front(), runs[2].front()); }
  /// Whether it needs no packing where it is sent from, or where it is received.
  bool is_dense_from() const { return count_pieces() == 1 && first().is_dense_from(); }
  bool is_dense_to() const { return count_pieces() == 1 && first().is_dense_to(); }
  std::int64_t bytes() const {
    std::int64_t bytes = element;
    for (const std::vector<Run>& axis : runs) {
      std::int64_t length = 0;
      for (const Run& run : axis) length += run.length;
      bytes *= length;
    }
    return bytes;
  }

 private:
  Piece piece(const Run& i, const Run& j, const Run& k) const {
    return {i.from * from_strides[0] + j.from * from_strides[1] + k.from,
            i.to * to_strides[0] + j.to * to_strides[1] + k.to,
            {i.length, j.length, k.length},
            from_strides,
            to_strides};
  }
};
/// An exchange. The messages between two ranks are in one order on both.
struct Messages {
  std::vector<Message> sent, received;

  bool empty() const { return sent.empty() && received.empty(); }
  double received_bytes() const {
    double bytes = 0.0;
    for (const Message& message : received) bytes += double(message.bytes());
    return bytes;
  }
};

using Arrays = std::vector<void*>;

/// An execution is open(), a collective that finds out whether all ranks go on, and then, for each exchange or for
/// several together, show(), begin(), finish() and done(), with close() at last.
class Transport {
 public:
  /// By the group's own transport. `copier` is a context for copies to and from the device, or null where arrays are
  /// the host's own memory; there is no context at all where the library itself is to copy them. `tells`: each message
  /// says whether its sender has failed.
  static std::unique_ptr<Transport> by_host(std::shared_ptr<Comm> comm, tessera_context* context,
                                            tessera_context* copier, bool tells);
  /// Collective: the fastest way that there is between the devices of all ranks, or null, and why there is none.
  /// `copier` is a context beside `context`, whose work goes first; both outlive the transport.
  static std::unique_ptr<Transport> by_devices(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                               tessera_context* copier, bool nccl_alone, std::string& why_not);
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// In words.
  virtual std::string name() const = 0;
  /// What will travel, in each exchange of an execution. Makes room for two that follow each other.
  virtual void expect(std::vector<Messages> exchanges) = 0;

  /// Whether others can read an array.
  virtual bool can_open(const void*) const { return true; }
  /// Begins an execution on these arrays; speaks to nobody.
  virtual void open(const Arrays&) {}
  /// Others may read the arrays when what is queued on a context by now is done.
  virtual void show(tessera_context*) {}
  /// Queues an exchange on the copier's stream, or begins to send and to receive. `from` and `to` have the arrays of
  /// the messages; of those that are opened one stays one. Others wait for what goes through the host, also where this
  /// rank has failed.
  virtual void begin(std::size_t exchange, const Arrays& from, const Arrays& to, Progress& progress) = 0;
  /// Ends it, where the host takes part. What this rank sends in it may be on its way until the next one ends.
  virtual void finish(std::size_t, const Arrays&, Progress&) {}
  /// This rank has queued all that it reads of what others have shown.
  virtual void done() {}
  /// What is queued from now on may write what was shown last, or before that (1).
  virtual void wait_for_readers(int) {}
  /// What is queued on the context from now on may write all arrays.
  virtual void close() {}
  /// Tells those that wait for this rank's thread that it has failed.
  virtual void fail() noexcept {}

 protected:
  Transport() = default;

 private:
  static std::unique_ptr<Transport> by_copies(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                              tessera_context* copier, std::string& why_not);
  static std::unique_ptr<Transport> by_nccl(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                            tessera_context* copier, std::string& why_not);
};

/// A message's elements of an array of the context's memory, or of the host's where that is null, into packed memory of
/// the host, or the other way round; complete on return.
void pack(tessera_context* context, const Message& message, const void* array, void* packed);
void unpack(tessera_context* context, const Message& message, const void* packed, void* array);
/// Queues a copy from one array to the other on a stream of a device of CUDA.
void queue_copy(void* device, void* stream, const Piece& piece, std::int64_t element, const void* from, void* to);

}  // namespace tessera::distributed
