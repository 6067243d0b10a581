// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "regular_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::npy {
namespace {

[[noreturn]] void fail(const std::filesystem::path& name, int error) {
  throw Error(name, std::string("cannot be read: ") + std::strerror(error));
}

/// O_NONBLOCK: a pipe that nobody writes to opens at once, to be refused. Regular files do not heed it.
int open_to_read(const std::filesystem::path& name) {
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) fail(name, errno);
  return descriptor;
}

}  // namespace

RegularFile::RegularFile(std::filesystem::path name) : name_(std::move(name)), descriptor_(open_to_read(name_)) {
  struct stat status {};
  const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(status.st_mode)) {
    left_ = std::uint64_t(status.st_size);
    return;
  }
  ::close(descriptor_);
  if (error != 0) fail(name_, error);
  throw Error(name_, "is not a regular file");
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), left_(other.left_) {}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RegularFile::read(void* target, std::size_t count) {
  char* at = static_cast<char*>(target);
  while (count > 0) {
    const ssize_t got = ::read(descriptor_, at, std::min(count, std::size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(name_, errno);
    if (got == 0 || std::uint64_t(got) > left_) throw Error(name_, "is cut off or changed while it was read");
    at += got;
    count -= std::size_t(got);
    left_ -= std::uint64_t(got);
  }
}

}  // namespace tessera::npy
