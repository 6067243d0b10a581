// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "block_cyclic.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tessera::distributed {
namespace {

std::int64_t length_of(const std::vector<Run>& runs) {
  std::int64_t length = 0;
  for (const Run& run : runs) length += run.length;
  return length;
}

/// Rows that are copied together: columns of an array by columns are read or written by cache lines then.
constexpr std::int64_t kBand = 16;

/// Elements from one row to the next, and from one column.
struct Strides {
  std::int64_t row, column;
};

/// Calls copy(array element, packed element) for the runs of an array, whose begin in it `kFirst` tells, and packed
/// rows.
template <std::int64_t Run::*kFirst, class A, class P, class Copy>
void for_each_pair(const std::vector<Run>& rows, const std::vector<Run>& columns, A* array, const Strides& strides,
                   P* packed, Copy&& copy) {
  const std::int64_t width = length_of(columns);
  for (const Run& row : rows)
    for (std::int64_t done = 0; done < row.length; done += kBand) {
      const std::int64_t height = std::min(kBand, row.length - done);
      std::int64_t before = 0;
      for (const Run& column : columns) {
        A* const from = array + (row.*kFirst + done) * strides.row + column.*kFirst * strides.column;
        P* const to = packed + before;
        if (strides.column == 1) {
          for (std::int64_t i = 0; i < height; ++i)
            for (std::int64_t j = 0; j < column.length; ++j) copy(from[i * strides.row + j], to[i * width + j]);
        } else {
          for (std::int64_t j = 0; j < column.length; ++j)
            for (std::int64_t i = 0; i < height; ++i)
              copy(from[i * strides.row + j * strides.column], to[i * width + j]);
        }
        before += column.length;
      }
      packed += height * width;
    }
}

/// Those of a rank's local array.
Strides strides_of(const Spread& spread, int rank) {
  if (spread.by_columns) return {1, spread.local_rows(rank)};
  return {spread.local_columns(rank), 1};
}

/// Calls body with a null pointer to an integer of that many bytes.
template <class Body>
void with_size(std::int64_t element, Body&& body) {
  if (element == 2) return body(static_cast<std::uint16_t*>(nullptr));
  if (element == 4) return body(static_cast<std::uint32_t*>(nullptr));
  body(static_cast<std::uint64_t*>(nullptr));
}

}  // namespace

Redistribution::Redistribution(std::shared_ptr<Comm> comm, const Spread& from, const Spread& to, std::int64_t element)
    : comm_(std::move(comm)), from_(from), to_(to), element_(element) {
  const int own = comm_->rank();
  for (int peer = 0; peer < comm_->size(); ++peer) {
    if (Message out = make_message(peer, own, peer); !out.bytes.empty()) sent_.push_back(std::move(out));
    if (Message in = make_message(peer, peer, own); !in.bytes.empty()) received_.push_back(std::move(in));
  }
}

Redistribution::Message Redistribution::make_message(int peer, int sender, int receiver) const {
  Message message{peer, {}, {}, {}};
  if (!from_.grid.contains(sender) || !to_.grid.contains(receiver)) return message;
  message.rows = common_runs(from_.rows, from_.grid.row(sender), to_.rows, to_.grid.row(receiver));
  message.columns = common_runs(from_.columns, from_.grid.column(sender), to_.columns, to_.grid.column(receiver));
  message.bytes.resize(std::size_t(length_of(message.rows) * length_of(message.columns) * element_));
  return message;
}

void Redistribution::pack(const void* source) {
  const Strides strides = strides_of(from_, comm_->rank());
  with_size(element_, [&]<class T>(T*) {
    for (Message& message : sent_)
      for_each_pair<&Run::from>(message.rows, message.columns, static_cast<const T*>(source), strides,
                                reinterpret_cast<T*>(message.bytes.data()), [](T own, T& packed) { packed = own; });
  });
}

void Redistribution::exchange() {
  const int own = comm_->rank();
  for (Message& message : received_)
    if (message.peer != own)
      message.request = comm_->receive(message.bytes.data(), message.bytes.size(), message.peer, kRedistributionTag);
  Message* kept = nullptr;
  for (Message& message : sent_) {
    if (message.peer == own)
      kept = &message;
    else
      message.request = comm_->send(message.bytes.data(), message.bytes.size(), message.peer, kRedistributionTag);
  }
  for (Message& message : received_) {
    if (message.peer == own && kept != nullptr) message.bytes.swap(kept->bytes);
    message.request.wait();
  }
  for (Message& message : sent_) message.request.wait();
}

void Redistribution::unpack(void* target) const {
  const Strides strides = strides_of(to_, comm_->rank());
  with_size(element_, [&]<class T>(T*) {
    for (const Message& message : received_)
      for_each_pair<&Run::to>(message.rows, message.columns, static_cast<T*>(target), strides,
                              reinterpret_cast<const T*>(message.bytes.data()), [](T& own, T packed) { own = packed; });
  });
}

}  // namespace tessera::distributed
