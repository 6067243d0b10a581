// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What the programs here do with all ranks that MPI has started.
#pragma once

#include <exception>
#include <string>

namespace tessera::test {

/// Ends all ranks where `holds` is false.
void require(bool holds, const std::string& what);

/// Gives all ranks the seed of rank 0, which prints it. Comes before the first use of a seed.
void share_seed();

/// "" where the body throws nothing.
template <class Body>
std::string thrown_by(Body&& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace tessera::test
