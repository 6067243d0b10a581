// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "guarded.hpp"

#include <cerrno>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace tessera::test {

namespace {

constexpr std::byte kPattern{0xa5};

std::size_t page() {
  static const std::size_t size = std::size_t(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

GuardedBytes::GuardedBytes(std::size_t bytes, Against side) : bytes_(bytes) {
  const std::size_t usable = (bytes / page() + 1) * page();  // at least one byte of pattern
  mapped_ = usable + 2 * page();
  void* const made = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of a guarded array");
  mapping_ = static_cast<std::byte*>(made);
  if (mprotect(mapping_ + page(), usable, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(mapping_, mapped_);
    throw std::system_error(error, std::generic_category(), "mprotect of a guarded array");
  }
  std::memset(mapping_ + page(), int(kPattern), usable);
  data_ = mapping_ + page() + (side == Against::end ? usable - bytes : 0);
}

GuardedBytes::~GuardedBytes() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

bool GuardedBytes::surroundings_intact() const {
  for (const std::byte* p = mapping_ + page(); p < mapping_ + mapped_ - page(); ++p) {
    if (p == data_) p += bytes_;
    if (p < mapping_ + mapped_ - page() && *p != kPattern) return false;
  }
  return true;
}

}  // namespace tessera::test
