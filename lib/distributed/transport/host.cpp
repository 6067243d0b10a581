// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "transport.hpp"

#include <algorithm>
#include <utility>

namespace tessera::distributed {
namespace {

/// Before the elements of a message, and between two pieces: they are aligned as any type wants it.
constexpr std::size_t kHead = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kHead - 1) / kHead * kHead; }

/// The copy of a piece between packed memory of the host and an array, whose elements have these strides.
tessera_copy copy_of(const Piece& piece, std::int64_t element, const std::array<std::int64_t, 2>& strides,
                     bool to_device) {
  const auto dense = piece.dense_strides();
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = to_device ? TESSERA_COPY_TO_DEVICE : TESSERA_COPY_TO_HOST, copy.rank = 3;
  copy.element_size = std::uint64_t(element);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    copy.extents[axis] = piece.extents[axis];
    copy.target_strides[axis] = axis == 2 ? 1 : (to_device ? strides : dense)[axis];
    copy.source_strides[axis] = axis == 2 ? 1 : (to_device ? dense : strides)[axis];
  }
  return copy;
}

/// All that a rank sends to another one goes in one message, which begins with a word that says whether its sender has
/// failed, so that a failure reaches the neighbours instead of silence. An execution repeats one exchange.
class HostMessages : public Transport {
 public:
  HostMessages(std::shared_ptr<Comm> comm, tessera_context* context, tessera_context* copier)
      : comm_(std::move(comm)), context_(context), copier_(copier == nullptr ? context : copier) {}

  std::string name() const override { return "through the host"; }
  void expect(std::vector<Messages> exchanges) override {
    sent_ = packed(exchanges.front().sent), received_ = packed(exchanges.front().received);
  }

  void begin(std::size_t, const Arrays& from, const Arrays&, Progress& progress) override {
    if (sent_.empty() && received_.empty()) return;
    if (copier_ != context_) progress.run([&] { call(tessera_context_synchronize, context_); });
    progress.always([&] {
      for (Packed& message : received_)
        message.request = comm_->receive(message.bytes.data(), message.bytes.size(), message.peer, kHaloTag);
      for (Packed& message : sent_) {
        progress.run([&] {
          for (const Part& part : message.parts)
            pack(copier_, part.piece, part.element, from[part.array], &message.bytes[part.begin]);
        });
        message.bytes[0] = progress.failed();
        message.request = comm_->send(message.bytes.data(), message.bytes.size(), message.peer, kHaloTag);
      }
    });
  }

  /// Waits for what others send and writes it to the arrays; nothing once one has failed.
  void finish(const Arrays& to, Progress& progress) override {
    progress.always([&] {
      for (Packed& message : received_) {
        message.request.wait();
        progress.run([&] {
          if (message.bytes[0] != 0)
            throw Error(TESSERA_DEVICE_ERROR,
                        "rank " + std::to_string(message.peer) + " has failed; its own error tells why");
          for (const Part& part : message.parts)
            unpack(copier_, part.piece, part.element, &message.bytes[part.begin], to[part.array]);
        });
      }
      for (Packed& message : sent_) message.request.wait();
    });
  }

 private:
  struct Part {
    std::size_t array, begin;  ///< its place among the arrays, and in the packed message
    std::int64_t element;
    Piece piece;
  };
  struct Packed {
    int peer;
    std::vector<Part> parts = {};
    std::vector<unsigned char> bytes = {};
    Request request = {};
  };

  /// The messages of each peer as one.
  static std::vector<Packed> packed(const std::vector<Message>& messages) {
    std::vector<Packed> list;
    for (const Message& message : messages) {
      auto to = std::find_if(list.begin(), list.end(), [&](const Packed& p) { return p.peer == message.peer; });
      if (to == list.end()) {
        to = list.insert(list.end(), Packed{message.peer});
        to->bytes.resize(kHead);
      }
      for (const Piece& piece : message.pieces) {
        const std::size_t begin = aligned(to->bytes.size());
        to->parts.push_back({message.array, begin, message.element, piece});
        to->bytes.resize(begin + std::size_t(piece.elements() * message.element));
      }
    }
    return list;
  }

  std::shared_ptr<Comm> comm_;
  tessera_context *context_, *copier_;
  std::vector<Packed> sent_, received_;
};

}  // namespace

void pack(tessera_context* context, const Piece& piece, std::int64_t element, const void* array, void* packed) {
  tessera_copy copy = copy_of(piece, element, piece.from_strides, false);
  copy.target = packed, copy.source = at(array, piece.from * element);
  call(tessera_context_copy, context, &copy);
}

void unpack(tessera_context* context, const Piece& piece, std::int64_t element, const void* packed, void* array) {
  tessera_copy copy = copy_of(piece, element, piece.to_strides, true);
  copy.target = at(array, piece.to * element), copy.source = packed;
  call(tessera_context_copy, context, &copy);
}

std::unique_ptr<Transport> Transport::by_host(std::shared_ptr<Comm> comm, tessera_context* context,
                                              tessera_context* copier) {
  return std::make_unique<HostMessages>(std::move(comm), context, copier);
}

}  // namespace tessera::distributed
