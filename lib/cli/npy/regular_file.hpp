// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "npy.hpp"

namespace tessera::npy {

/// A regular file that is read from its beginning; knows how much is left. A pipe, a device or a folder is refused at
/// once. Throws Error.
class RegularFile {
 public:
  explicit RegularFile(std::filesystem::path name);
  RegularFile(RegularFile&& other) noexcept;
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();

  std::uint64_t left() const { return left_; }
  void read(void* target, std::size_t count);

 private:
  std::filesystem::path name_;
  int descriptor_;
  std::uint64_t left_ = 0;
};

}  // namespace tessera::npy
