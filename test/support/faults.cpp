// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "faults.hpp"

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tessera::test {

Faults::Faults(std::string shim) : shim_(std::move(shim)) {
  const std::filesystem::path file = folder_.path() / "faults";
  std::ofstream(file).close();
  std::filesystem::resize_file(file, sizeof *block_);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), file.string());
  void* const block = ::mmap(nullptr, sizeof *block_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (block == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  block_ = static_cast<tessera_faults*>(block);
}

Faults::~Faults() { ::munmap(block_, sizeof *block_); }

void Faults::arm(const std::string& what, std::uint64_t at, tessera_fault_mode mode, bool no_tmpfile) {
  *block_ = {};
  what.copy(block_->what, sizeof block_->what - 1);
  block_->mode = mode;
  block_->no_tmpfile = no_tmpfile ? 1 : 0;
  block_->at = at;
}

std::map<std::string, std::optional<std::string>> Faults::environment() const {
  return {{"LD_PRELOAD", shim_}, {"TESSERA_FAULTS", (folder_.path() / "faults").string()}};
}

}  // namespace tessera::test
