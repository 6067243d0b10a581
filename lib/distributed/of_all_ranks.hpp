// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Objects that the ranks of one process share.
#pragma once

#include "together.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// Collective over ranks of one process: each makes an object, and all hold those of all, in the order of ranks. None
/// where one fails, and `why_not` says why.
template <class Object, class Make>
std::vector<std::shared_ptr<Object>> of_all_ranks(Comm& comm, Make&& make, std::string& why_not) {
  std::shared_ptr<Object> mine;
  const std::shared_ptr<Object>* const address = &mine;
  why_not = first_failure(comm, outcome_of([&] { mine = make(); }));
  std::vector<std::shared_ptr<Object>> all;
  if (!why_not.empty()) return all;
  std::vector<const std::shared_ptr<Object>*> addresses(std::size_t(comm.size()));
  comm.all_gather(&address, addresses.data(), sizeof address);
  // What the addresses point to lives until all have come here.
  why_not = first_failure(comm, outcome_of([&] {
                            for (const std::shared_ptr<Object>* object : addresses) all.push_back(*object);
                          }));
  return all;
}

}  // namespace tessera::distributed
