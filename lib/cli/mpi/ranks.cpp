// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks.hpp"

#include <tessera/mpi.hpp>

#include <new>
#include <optional>

namespace tessera::cli {
namespace {

/// What `body` throws, as text.
std::optional<std::string> failure_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace

Ranks::Ranks() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &on_host_);
  MPI_Comm_free(&host);
}

void Ranks::together(const std::function<void()>& body) const {
  const std::optional<std::string> failure = failure_of(body);
  const int mine = failure ? rank_ : size_;
  int first = size_;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size_) return;
  std::string text = failure.value_or("");
  int length = int(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(std::size_t(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  throw KnownFailure(first == 0 ? text : "rank " + std::to_string(first) + ": " + text);
}

std::vector<std::int64_t> Ranks::from_first(std::vector<std::int64_t> numbers) const {
  std::int64_t count = std::int64_t(numbers.size());
  MPI_Bcast(&count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  numbers.resize(std::size_t(count));
  MPI_Bcast(numbers.data(), int(count), MPI_INT64_T, 0, MPI_COMM_WORLD);
  return numbers;
}

double Ranks::largest(double number) const {
  double result = number;
  MPI_Allreduce(&number, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

}  // namespace tessera::cli
