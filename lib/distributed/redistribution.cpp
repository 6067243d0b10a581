// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "redistribution.hpp"

#include "tags.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

namespace tessera::distributed {
namespace {

std::int64_t length_of(const std::vector<Run>& runs) {
  std::int64_t length = 0;
  for (const Run& run : runs) length += run.length;
  return length;
}

/// Copies between the runs of an array, whose begin in it `kFirst` tells, and packed elements, row by row.
template <std::int64_t Run::*kFirst, class T, class Copy>
void for_each_run(const std::vector<Run>& rows, const std::vector<Run>& columns, T* array, std::int64_t row_stride,
                  std::int64_t column_stride, Copy&& copy) {
  for (const Run& row : rows)
    for (std::int64_t i = row.*kFirst; i < row.*kFirst + row.length; ++i)
      for (const Run& column : columns)
        copy(array + i * row_stride + column.*kFirst * column_stride, column_stride, column.length);
}

template <class T>
void pack_runs(const std::vector<Run>& rows, const std::vector<Run>& columns, const T* array, std::int64_t row_stride,
               std::int64_t column_stride, T* packed) {
  for_each_run<&Run::from>(rows, columns, array, row_stride, column_stride,
                           [&](const T* from, std::int64_t stride, std::int64_t length) {
                             for (std::int64_t j = 0; j < length; ++j) packed[j] = from[j * stride];
                             packed += length;
                           });
}

template <class T>
void unpack_runs(const std::vector<Run>& rows, const std::vector<Run>& columns, T* array, std::int64_t row_stride,
                 std::int64_t column_stride, const T* packed) {
  for_each_run<&Run::to>(rows, columns, array, row_stride, column_stride,
                         [&](T* to, std::int64_t stride, std::int64_t length) {
                           for (std::int64_t j = 0; j < length; ++j) to[j * stride] = packed[j];
                           packed += length;
                         });
}

/// Elements from one row to the next, and from one column, of a rank's local array.
std::pair<std::int64_t, std::int64_t> strides_of(const Spread& spread, int rank) {
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
  const auto [row, column] = strides_of(from_, comm_->rank());
  with_size(element_, [&]<class T>(T*) {
    for (Message& message : sent_)
      pack_runs(message.rows, message.columns, static_cast<const T*>(source), row, column,
                reinterpret_cast<T*>(message.bytes.data()));
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
  const auto [row, column] = strides_of(to_, comm_->rank());
  with_size(element_, [&]<class T>(T*) {
    for (const Message& message : received_)
      unpack_runs(message.rows, message.columns, static_cast<T*>(target), row, column,
                  reinterpret_cast<const T*>(message.bytes.data()));
  });
}

}  // namespace tessera::distributed
