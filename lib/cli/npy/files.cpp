// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::npy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAlignment = 64;                     // of the elements, as numpy has it
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // bytes; the system takes about twice as many
constexpr int kMaxLinks = 40;                              // that follow each other, as in Linux

[[noreturn]] void cannot_read(const fs::path& name, int error) {
  throw Error(name, std::string("cannot be read: ") + std::strerror(error));
}

[[noreturn]] void fail(const fs::path& name, int error) {
  throw Error(name, std::string("cannot be written: ") + std::strerror(error));
}

/// The file that a path names through symbolic links; it need not exist.
fs::path followed(const fs::path& name) {
  fs::path path = name;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    if (links == kMaxLinks) fail(name, ELOOP);
    const fs::path next = fs::read_symlink(path, error);
    if (error) fail(name, error.value());
    path = path.parent_path() / next;  // which is `next` where that is absolute
  }
  return path;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Another ending promises a format that is not written.
void require_ending(const fs::path& name, const std::vector<std::string>& endings) {
  const std::string own = name.extension();
  if (own.empty() || std::find(endings.begin(), endings.end(), own) != endings.end()) return;
  throw Error(name, "cannot be written: its ending '" + clip(own) + "' is unknown; there are " +
                        joined(endings, ", ", [](const std::string& ending) { return ending; }) +
                        " and none, which means .npy");
}

/// Where the system shows an open file, so that one without a name can be given one.
std::string link_to(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

/// Opens a pipe or a device. A pipe that nobody reads is an error, after a while in which a reader may come.
int open_pipe(const fs::path& name) {
  constexpr int kTries = 100;
  constexpr useconds_t kPause = 10000;  // microseconds
  int descriptor = -1;
  for (int i = 0; i < kTries && descriptor < 0; ++i) {
    if (i > 0) ::usleep(kPause);
    descriptor = ::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0 && errno != ENXIO && errno != EINTR) break;
  }
  if (descriptor < 0 && errno == ENXIO) throw Error(name, "cannot be written: nothing reads from this pipe or device");
  if (descriptor < 0) fail(name, errno);
  ::fcntl(descriptor, F_SETFL, O_WRONLY);  // writes wait for the reader from here on
  return descriptor;
}

std::string header(Stored stored, const std::vector<std::int64_t>& shape) {
  const std::string extents = joined(shape, ", ", [](std::int64_t extent) { return std::to_string(extent); });
  std::string text = std::string("{'descr': '") + descr_of(stored) + "', 'fortran_order': False, 'shape': (" + extents +
                     (shape.size() == 1 ? ",), }" : "), }");
  constexpr std::size_t kPrefix = 10;
  const std::size_t total = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(total - kPrefix - 1, ' ');
  text += '\n';
  std::string result = "\x93NUMPY";
  result += {'\1', '\0', char(text.size() & 0xff), char(text.size() >> 8)};
  return result + text;
}

/// O_NONBLOCK: a pipe that nobody writes to opens at once, to be refused. Regular files do not heed it.
int open_to_read(const std::filesystem::path& name) {
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) cannot_read(name, errno);
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
  if (error != 0) cannot_read(name_, error);
  throw Error(name_, "is not a regular file");
}

RegularFile::~RegularFile() { ::close(descriptor_); }

void RegularFile::read(void* target, std::size_t count) {
  char* at = static_cast<char*>(target);
  while (count > 0) {
    const ssize_t got = ::read(descriptor_, at, std::min(count, kMostAtOnce));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(name_, errno);
    if (got == 0 || std::uint64_t(got) > left_) throw Error(name_, "is cut off or changed while it was read");
    at += got;
    count -= std::size_t(got);
    left_ -= std::uint64_t(got);
  }
}

bool begins_with(const std::filesystem::path& file, std::string_view bytes) {
  RegularFile reader(file);
  if (reader.left() < bytes.size()) return false;
  std::string start(bytes.size(), '\0');
  reader.read(start.data(), start.size());
  return start == bytes;
}

OutputFile::OutputFile(fs::path target, const std::vector<std::string>& endings) : name_(std::move(target)) {
  if (name_.empty()) throw Error(name_, "the output file has no name");
  struct stat status {
  }, standard{};
  const bool exists = ::stat(name_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(name_, errno);
  if (exists && S_ISDIR(status.st_mode)) fail(name_, EISDIR);
  if (exists && ::fstat(STDOUT_FILENO, &standard) == 0 && status.st_dev == standard.st_dev &&
      status.st_ino == standard.st_ino) {
    kind_ = Kind::standard_output;
    descriptor_ = STDOUT_FILENO;
  } else if (exists && !S_ISREG(status.st_mode)) {
    kind_ = Kind::pipe;
    descriptor_ = open_pipe(name_);
  } else {
    require_ending(name_, endings);
    target_ = followed(name_);
    // A rename would pass over the write protection of a file.
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail(name_, errno);
    create_temporary();
    if (!temporary_.empty()) discard();  // it was a trial: nothing with a name lies there while we compute
  }
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0 && kind_ != Kind::standard_output) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

/// Beside the target, since a rename works within one file system only. Nobody else may read it before it has the
/// target's permissions.
void OutputFile::create_temporary() {
  constexpr mode_t kPrivate = 0600;
  descriptor_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kPrivate);
  if (descriptor_ >= 0 && ::access(link_to(descriptor_).c_str(), F_OK) == 0) return;
  discard();  // no such files here, or no way to name them
  name_temporary();
  descriptor_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, kPrivate);
  if (descriptor_ >= 0) return;
  const int error = errno;
  temporary_.clear();
  fail(name_, error);
}

/// Random, because process numbers repeat in containers and a killed run may have left its file.
void OutputFile::name_temporary() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != ssize_t(sizeof number)) fail(name_, errno);
  temporary_ = folder_of(target_) / (".tessera-" + std::to_string(number) + ".tmp");
}

/// The rights of the file that is replaced, or those of any new file.
void OutputFile::keep_rights() const {
  struct stat old {};
  mode_t mode = 0666;
  if (::stat(target_.c_str(), &old) == 0) {
    mode = old.st_mode & 0777;
    // Who may not give a file away keeps it, and gives its group no right that was meant for another.
    struct stat own {};
    if (::fchown(descriptor_, old.st_uid, old.st_gid) != 0 && ::fchown(descriptor_, uid_t(-1), old.st_gid) != 0 &&
        (::fstat(descriptor_, &own) != 0 || own.st_gid != old.st_gid))
      mode &= ~mode_t{070};
  } else if (errno != ENOENT) {
    fail(name_, errno);
  } else {
    const mode_t mask = ::umask(077);
    ::umask(mask);
    mode &= ~mask;
  }
  if (::fchmod(descriptor_, mode) != 0) fail(name_, errno);
}

void OutputFile::write_all(const void* data, std::size_t count) const {
  const char* at = static_cast<const char*>(data);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, at, std::min(count, kMostAtOnce));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(name_, errno);
    at += written;
    count -= std::size_t(written);
  }
}

void OutputFile::write(std::span<const std::byte> numbers, Stored stored, const std::vector<std::int64_t>& shape) {
  const std::string head = header(stored, shape);
  write_parts({std::as_bytes(std::span(head)), numbers});
}

void OutputFile::write_contents(std::span<const std::byte> contents) { write_parts({contents}); }

/// What was written has its rights and is on the disk.
void OutputFile::write_parts(std::initializer_list<std::span<const std::byte>> parts) {
  if (descriptor_ < 0) create_temporary();
  for (const std::span<const std::byte> part : parts) write_all(part.data(), part.size());
  if (kind_ != Kind::file) return;
  keep_rights();
  if (::fsync(descriptor_) != 0) fail(name_, errno);
}

void OutputFile::commit() {
  if (kind_ != Kind::file) return;
  if (temporary_.empty()) {
    name_temporary();
    if (::linkat(AT_FDCWD, link_to(descriptor_).c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      const int error = errno;
      temporary_.clear();
      fail(name_, error);
    }
  }
  const fs::path beside = folder_of(target_);  // nothing takes memory, or fails, behind the rename
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(name_, errno);  // some file systems report a full disk here
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(name_, errno);
  temporary_.clear();
  // The target is whole by now, whatever happens. That it is the new one after a power failure too is asked for, and
  // not every file system can promise it of a folder.
  const int folder = ::open(beside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace tessera::npy
