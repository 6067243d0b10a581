// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "nccl_messages.hpp"

#include "direct_copies.hpp"

#include <algorithm>

namespace tessera::distributed {
namespace {

/// Whether a message needs no packing where it is sent from, or where it is received.
bool is_dense_from(const Message& message) {
  return message.pieces.size() == 1 && message.pieces.front().is_dense_from();
}
bool is_dense_to(const Message& message) { return message.pieces.size() == 1 && message.pieces.front().is_dense_to(); }

/// Elements of messages to and from others that must be packed.
std::int64_t packed(const std::vector<Message>& messages, int rank, bool (*is_dense)(const Message&)) {
  std::int64_t elements = 0;
  for (const Message& message : messages)
    if (message.peer != rank && !is_dense(message)) elements += message.elements();
  return elements;
}

}  // namespace

NcclMessages::NcclMessages(std::shared_ptr<Nccl> nccl, int rank, tessera_context* context, tessera_context* copier)
    : nccl_(std::move(nccl)),
      rank_(rank),
      context_(context),
      copier_(copier),
      device_(Driver::get().device_of(copier)),
      stream_(stream_of(copier)) {}

void NcclMessages::expect(std::vector<Messages> all, std::int64_t element) {
  all_ = std::move(all), element_ = element;
  std::int64_t sent = 0, received = 0;
  for (const Messages& messages : all_) {
    sent = std::max(sent, packed(messages.sent, rank_, is_dense_from));
    received = std::max(received, packed(messages.received, rank_, is_dense_to));
  }
  if (sent > 0) packed_sent_ = make_buffer(context_, sent * element);
  if (received > 0) packed_received_ = make_buffer(context_, received * element);
}

void NcclMessages::begin(const std::array<const void*, kFactors>& arrays, Attempts& attempts) {
  arrays_ = arrays;
  attempts.run([&] { call(tessera_context_wait_for, copier_, context_); });
}

/// What this rank sends, packed where it must be.
std::vector<Nccl::Part> NcclMessages::pack(const std::vector<Message>& messages) const {
  std::vector<Nccl::Part> parts;
  void* packed = packed_sent_ == nullptr ? nullptr : tessera_buffer_data(packed_sent_.get());
  for (const Message& message : messages) {
    if (message.peer == rank_) continue;
    const void* const array = arrays_[message.factor];
    const std::int64_t bytes = message.elements() * element_;
    const bool dense = is_dense_from(message);
    void* const begin = dense ? at(array, message.pieces.front().from * element_) : packed;
    parts.push_back({begin, std::size_t(bytes), message.peer});
    if (dense) continue;
    for (Piece piece : message.pieces) {
      piece.to = 0, piece.to_apart = piece.length;
      Driver::get().copy(device_, stream_, lines_of(piece, element_, array, packed));
      packed = at(packed, piece.elements() * element_);
    }
  }
  return parts;
}

/// What this rank receives, and what is copied then: out of packed messages, and its own pieces.
NcclMessages::Arrivals NcclMessages::arrivals(const std::vector<Message>& messages,
                                              const std::array<void*, kFactors>& gathered) const {
  Arrivals arrivals;
  void* packed = packed_received_ == nullptr ? nullptr : tessera_buffer_data(packed_received_.get());
  for (const Message& message : messages) {
    void* const target = gathered[message.factor];
    const bool own = message.peer == rank_, dense = is_dense_to(message);
    void* const begin = dense ? at(target, message.pieces.front().to * element_) : packed;
    if (!own) arrivals.parts.push_back({begin, std::size_t(message.elements() * element_), message.peer});
    if (!own && dense) continue;
    for (Piece piece : message.pieces) {
      if (!own) piece.from = 0, piece.from_apart = piece.length;
      arrivals.copies.push_back(lines_of(piece, element_, own ? arrays_[message.factor] : packed, target));
      if (!own) packed = at(packed, piece.elements() * element_);
    }
  }
  return arrivals;
}

void NcclMessages::queue(std::size_t product, const std::array<void*, kFactors>& gathered) {
  const std::vector<Nccl::Part> sent = pack(all_[product].sent);
  const auto [received, copies] = arrivals(all_[product].received, gathered);
  if (!sent.empty() || !received.empty()) nccl_->exchange(stream_, sent, received);
  for (const Lines& lines : copies) Driver::get().copy(device_, stream_, lines);
}

std::unique_ptr<Carrier> Carrier::join(const std::shared_ptr<Comm>& comm, tessera_context* context,
                                       tessera_context* copier, std::string& why_not) {
  std::unique_ptr<Carrier> made = DirectCopies::join(comm, context, copier, why_not);
  if (made != nullptr) return made;
  std::string why_no_messages;
  std::shared_ptr<Nccl> nccl = Nccl::join(*comm, context, why_no_messages);
  if (nccl == nullptr) {
    why_not += "; " + why_no_messages;
    return nullptr;
  }
  const Outcome outcome =
      outcome_of([&] { made = std::make_unique<NcclMessages>(std::move(nccl), comm->rank(), context, copier); });
  why_not = first_failure(*comm, outcome);
  if (!why_not.empty()) made.reset();
  return made;
}

}  // namespace tessera::distributed
