// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Peers in shared libraries of others. Each is opened from its own file with its symbols kept apart: several of them
/// export the same cblas_sgemm.
#pragma once

#include "device.hpp"

#include <stdexcept>

namespace tessera::perf {

/// Open until the process ends: their threads may outlive any use of them.
class Library {
 public:
  /// Throws with the loader's reason.
  explicit Library(const std::string& path);
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  /// Nothing that was found may be used any more.
  void close();

 private:
  void* symbol(const char* name) const;
  void* handle_;
};

std::unique_ptr<Competitor> make_openblas(const std::string& path, int threads);
std::unique_ptr<Competitor> make_blis(const std::string& path, int threads);
std::unique_ptr<Competitor> make_onednn(const std::string& path, int threads);

/// A competitor that calls sgemm and dgemm of the CBLAS interface, row-major.
std::unique_ptr<Competitor> make_cblas(std::string name, std::string version, const Library& library);

}  // namespace tessera::perf
