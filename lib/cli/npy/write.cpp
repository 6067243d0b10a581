// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::npy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAlignment = 64;  // of the elements, as numpy has it

[[noreturn]] void fail(const fs::path& name, int error) {
  throw Error(name, std::string("cannot be written: ") + std::strerror(error));
}

/// An open file that is unlinked again unless it was kept.
class Descriptor {
 public:
  Descriptor(const fs::path& name, fs::path path, int flags)
      : name_(name),
        path_(std::move(path)),
        created_((flags & O_CREAT) != 0),
        number_(::open(path_.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)) {
    if (number_ < 0) fail(name_, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
    if (created_) ::unlink(path_.c_str());
  }

  int number() const { return number_; }
  void write(const void* data, std::size_t count) const {
    const char* at = static_cast<const char*>(data);
    while (count > 0) {
      const ssize_t written = ::write(number_, at, std::min(count, std::size_t{1} << 30));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(name_, errno);
      at += written;
      count -= std::size_t(written);
    }
  }
  void close() {
    if (::close(std::exchange(number_, -1)) != 0) fail(name_, errno);  // some file systems report a full disk here
  }
  void rename_to(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) fail(name_, errno);
    created_ = false;
  }

 private:
  const fs::path& name_;
  fs::path path_;
  bool created_;
  int number_;
};

/// Beside the target, since a rename works within one file system only. Random, because process numbers repeat in
/// containers and a killed run may have left its file.
fs::path temporary_path(const fs::path& target) {
  std::random_device random;
  return target.parent_path() / (".tessera-" + std::to_string(random()) + std::to_string(random()) + ".tmp");
}

std::string header(DType dtype, const std::vector<std::int64_t>& shape) {
  std::string text =
      std::string("{'descr': '") + (dtype == DType::f32 ? "<f4" : "<f8") + "', 'fortran_order': False, 'shape': (";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  text += shape.size() == 1 ? ",), }" : "), }";
  constexpr std::size_t kPrefix = 10;
  const std::size_t total = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(total - kPrefix - 1, ' ');
  text += '\n';
  std::string result = "\x93NUMPY";
  result += {'\1', '\0', char(text.size() & 0xff), char(text.size() >> 8)};
  return result + text;
}

}  // namespace

OutputFile::OutputFile(fs::path target) : name_(std::move(target)) {
  std::error_code error;
  target_ = fs::weakly_canonical(name_, error);
  if (error || name_.empty()) throw Error(name_, "cannot be written: " + (error ? error.message() : "no name"));
  const fs::file_status status = fs::status(target_, error);
  if (fs::is_directory(status)) fail(name_, EISDIR);
  in_place_ = fs::exists(status) && !fs::is_regular_file(status);
  // A rename would pass over the write protection of a file.
  if (fs::exists(status) && ::access(target_.c_str(), W_OK) != 0) fail(name_, errno);
  if (!in_place_) Descriptor(name_, temporary_path(target_), O_CREAT | O_EXCL);  // a trial, removed at once
}

void OutputFile::write(std::span<const std::byte> bytes, DType dtype, const std::vector<std::int64_t>& shape) const {
  Descriptor file(name_, in_place_ ? target_ : temporary_path(target_), in_place_ ? 0 : O_CREAT | O_EXCL);
  const std::string head = header(dtype, shape);
  file.write(head.data(), head.size());
  file.write(bytes.data(), bytes.size());
  struct stat old {};
  if (!in_place_ && ::stat(target_.c_str(), &old) == 0 && ::fchmod(file.number(), old.st_mode & 07777) != 0)
    fail(name_, errno);
  file.close();
  if (!in_place_) file.rename_to(target_);
}

}  // namespace tessera::npy
