// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "transport.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::distributed {
namespace {

/// Before the elements of a message that tells, and between those of two arrays: they are aligned as any type wants it.
constexpr std::size_t kHead = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kHead - 1) / kHead * kHead; }

/// Lines of one element each, as where columns become rows. Some planes go together: what is contiguous along them is
/// read or written by cache lines then.
template <class T>
void copy_elements(const Piece& piece, const T* from, T* to) {
  constexpr std::int64_t kBand = 16;  // elements: a line of 64 bytes in f32
  from += piece.from, to += piece.to;
  for (std::int64_t first = 0; first < piece.extents[0]; first += kBand)
    for (std::int64_t j = 0; j < piece.extents[1]; ++j)
      for (std::int64_t i = first; i < std::min(first + kBand, piece.extents[0]); ++i)
        to[i * piece.to_strides[0] + j * piece.to_strides[1]] =
            from[i * piece.from_strides[0] + j * piece.from_strides[1]];
}

/// From one array of the host's memory to another one.
void copy_lines(const Piece& piece, std::int64_t element, const void* from, void* to) {
  const auto as = [&]<class T>(T) { copy_elements(piece, static_cast<const T*>(from), static_cast<T*>(to)); };
  if (piece.extents[2] == 1 && element == 2) return as(std::uint16_t());
  if (piece.extents[2] == 1 && element == 4) return as(std::uint32_t());
  if (piece.extents[2] == 1 && element == 8) return as(std::uint64_t());
  for (std::int64_t i = 0; i < piece.extents[0]; ++i)
    for (std::int64_t j = 0; j < piece.extents[1]; ++j)
      std::memcpy(at(to, (piece.to + i * piece.to_strides[0] + j * piece.to_strides[1]) * element),
                  at(from, (piece.from + i * piece.from_strides[0] + j * piece.from_strides[1]) * element),
                  std::size_t(piece.extents[2] * element));
}

/// From an array to the other one, of which one is packed memory of the host.
void copy_piece(tessera_context* context, const Piece& piece, std::int64_t element, const void* from, void* to,
                int direction) {
  if (context == nullptr) return copy_lines(piece, element, from, to);
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = direction, copy.rank = 3, copy.element_size = std::uint64_t(element);
  copy.source = at(from, piece.from * element), copy.target = at(to, piece.to * element);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    copy.extents[axis] = piece.extents[axis];
    copy.source_strides[axis] = axis == 2 ? 1 : piece.from_strides[axis];
    copy.target_strides[axis] = axis == 2 ? 1 : piece.to_strides[axis];
  }
  call(tessera_context_copy, context, &copy);
}

/// All that a rank sends to another one in an exchange goes in one message. One that tells begins with a word that says
/// whether its sender has failed, so that a failure reaches the neighbours instead of silence. Others are sent out of
/// the array itself, and received into it, where they are one dense piece of the host's memory.
class HostMessages : public Transport {
 public:
  HostMessages(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier, bool tells)
      : comm_(std::move(comm)),
        context_(context),
        copier_(copier == nullptr ? context : copier),
        head_(tells ? kHead : 0) {}

  std::string name() const override { return "through the host"; }

  void expect(std::vector<Messages> exchanges) override {
    exchanges_.clear();
    std::array<std::size_t, 2> bytes{};
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      std::size_t room = 0;
      auto sent = packed(exchanges[i].sent, true, room), received = packed(exchanges[i].received, false, room);
      exchanges_.push_back({std::move(sent), std::move(received)});
      bytes[i % 2] = std::max(bytes[i % 2], room);
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) rooms_[i].assign(bytes[i], 0);
  }

  void show(tessera_context*) override {
    const Exchange& first = exchanges_.front();
    if (copier_ != context_ && !(first.sent.empty() && first.received.empty()))
      call(tessera_context_synchronize, context_);
  }

  void begin(std::size_t exchange, const Arrays& from, const Arrays& to, Progress& progress) override {
    progress.always([&] {
      for (Packed& message : exchanges_[exchange].received)
        if (message.peer != comm_->rank())
          message.request = comm_->receive(memory(message, exchange, to), message.bytes, message.peer, kExchangeTag);
      for (Packed& message : exchanges_[exchange].sent) {
        if (message.peer == comm_->rank()) {
          for (const Part& part : message.parts) keep(part.message, from, to);
          continue;
        }
        auto* const data = static_cast<unsigned char*>(memory(message, exchange, from));
        progress.run([&] {
          for (const Part& part : message.parts)
            if (!message.is_direct) pack(copier_, part.message, from[part.message.array], data + part.begin);
        });
        if (head_ > 0) data[0] = progress.failed();
        message.request = comm_->send(data, message.bytes, message.peer, kExchangeTag);
      }
    });
  }

  /// Waits for what others send, sends it on and writes it to the arrays; nothing once one has failed.
  void finish(std::size_t exchange, const Arrays& to, Progress& progress) override {
    progress.always([&] {
      for (Packed& message : exchanges_[exchange].received) {
        if (message.peer == comm_->rank()) continue;
        message.request.wait();
        const auto* const data = static_cast<const unsigned char*>(memory(message, exchange, to));
        if (message.onward >= 0) message.request = comm_->send(data, message.bytes, message.onward, kExchangeTag);
        progress.run([&] {
          if (head_ > 0 && data[0] != 0)
            throw Error(TESSERA_DEVICE_ERROR,
                        "rank " + std::to_string(message.peer) + " has failed; its own error tells why");
          for (const Part& part : message.parts)
            if (!message.is_direct) unpack(copier_, part.message, data + part.begin, to[part.message.array]);
        });
      }
      if (exchange > 0) wait_for_sent(exchange - 1);
      if (exchange + 1 == exchanges_.size()) wait_for_sent(exchange);
    });
  }

 private:
  struct Part {
    std::size_t begin;  ///< in the packed message
    Message message;
  };
  struct Packed {
    int peer, onward;
    std::vector<Part> parts = {};
    std::size_t bytes = 0;
    bool is_direct = false;
    std::size_t begin = 0;  ///< where it is sent from or received: in its exchange's room, or direct in the array
    Request request = {};
  };
  struct Exchange {
    std::vector<Packed> sent, received;
  };

  /// The messages of each peer as one. `room` grows by what they need.
  std::vector<Packed> packed(std::vector<Message>& messages, bool sends, std::size_t& room) const {
    std::vector<Packed> list;
    for (Message& message : messages) {
      auto to = std::find_if(list.begin(), list.end(), [&](const Packed& p) { return p.peer == message.peer; });
      if (to == list.end()) {
        to = list.insert(list.end(), Packed{message.peer, message.onward});
        to->bytes = head_;
      }
      const std::size_t begin = aligned(to->bytes);
      to->bytes = begin + std::size_t(message.bytes());
      to->parts.push_back({begin, std::move(message)});
    }
    for (Packed& whole : list) {
      const Message& first = whole.parts.front().message;
      whole.is_direct = head_ == 0 && copier_ == context_ && whole.parts.size() == 1 &&
                        (sends ? first.is_dense_from() : first.is_dense_to());
      whole.begin = room;
      if (whole.is_direct)
        whole.begin = std::size_t((sends ? first.first().from : first.first().to) * first.element);
      else if (whole.peer != comm_->rank())
        room += aligned(whole.bytes);
    }
    return list;
  }
  void* memory(const Packed& message, std::size_t exchange, const Arrays& arrays) {
    if (message.is_direct) return at(arrays[message.parts.front().message.array], std::int64_t(message.begin));
    return rooms_[exchange % 2].data() + message.begin;
  }
  /// What stays on this rank, in the host's memory.
  static void keep(const Message& message, const Arrays& from, const Arrays& to) {
    message.for_each_piece(
        [&](const Piece& piece) { copy_lines(piece, message.element, from[message.array], to[message.array]); });
  }
  void wait_for_sent(std::size_t exchange) {
    for (Packed& message : exchanges_[exchange].sent) message.request.wait();
    for (Packed& message : exchanges_[exchange].received) message.request.wait();  // what was sent on
  }

  std::shared_ptr<Comm> comm_;
  tessera_context *context_, *copier_;
  std::size_t head_;
  std::vector<Exchange> exchanges_;
  std::array<std::vector<unsigned char>, 2> rooms_;  ///< of exchanges with even and odd numbers
};

}  // namespace

void pack(tessera_context* context, const Message& message, const void* array, void* packed) {
  message.for_each_piece([&](const Piece& piece) {
    copy_piece(context, piece.into_packed(), message.element, array, packed, TESSERA_COPY_TO_HOST);
    packed = at(packed, piece.elements() * message.element);
  });
}

void unpack(tessera_context* context, const Message& message, const void* packed, void* array) {
  message.for_each_piece([&](const Piece& piece) {
    copy_piece(context, piece.out_of_packed(), message.element, packed, array, TESSERA_COPY_TO_DEVICE);
    packed = at(packed, piece.elements() * message.element);
  });
}

std::unique_ptr<Transport> Transport::by_host(std::shared_ptr<Comm> comm, tessera_context* context,
                                              tessera_context* copier, bool tells) {
  return std::make_unique<HostMessages>(std::move(comm), context, copier, tells);
}

}  // namespace tessera::distributed
