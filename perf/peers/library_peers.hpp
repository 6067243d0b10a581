// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Peers in shared libraries of others. Each is opened from its own file with its symbols kept apart: several of them
/// export the same cblas_sgemm.
#pragma once

#include "device.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace tessera::perf {

/// Open until the process ends: their threads may outlive any use of them.
class Library {
 public:
  /// Throws with the loader's reason.
  explicit Library(const std::string& path);
  template <class Function>
  Function* find(const std::string& name) const {
    return reinterpret_cast<Function*>(symbol(name.c_str()));
  }
  /// Nothing that was found may be used any more.
  void close();

 private:
  void* symbol(const char* name) const;
  void* handle_;
};

std::unique_ptr<Competitor> make_openblas(const std::string& path, int threads);
/// That of NumPy's wheels, whose functions have other names and integers of 64 bits.
std::unique_ptr<Competitor> make_numpy_openblas(const std::string& path, int threads);
std::unique_ptr<Competitor> make_blis(const std::string& path, int threads);
std::unique_ptr<Competitor> make_onednn(const std::string& path, int threads);
std::unique_ptr<Competitor> make_mkl(const std::string& path, int threads);

/// What a library calls its functions: prefix, name, suffix. Their integers are of 32 bits, or of 64.
struct LibraryNames {
  std::string prefix, suffix;
  bool wide = false;

  std::string of(const std::string& name) const { return prefix + name + suffix; }
};

/// A competitor that calls sgemm and dgemm of the CBLAS interface, row-major.
std::unique_ptr<Competitor> make_cblas(std::string name, std::string version, const Library& library,
                                       const LibraryNames& names = {});

}  // namespace tessera::perf
