// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "wisdom/wisdom_file.hpp"

#include "check.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

namespace tessera::core {
namespace {

constexpr std::size_t kMostBytes = std::size_t(64) << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  invalid("wisdom file", "'" + path + "'", reason);
}
[[noreturn]] void refuse_by_errno(const std::string& path, const std::string& what) {
  refuse(path, what + ": " + std::strerror(errno));
}

/// An open file.
class File {
 public:
  File(const std::string& path, int flags, mode_t mode = 0) : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// False with errno where what was written does not reach the disk.
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

/// All of an open file.
std::string contents(const File& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) refuse_by_errno(path, "cannot be read");
  if (!S_ISREG(status.st_mode)) refuse(path, "is no regular file");
  std::string text;
  std::array<char, 1 << 16> block;
  for (;;) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_by_errno(path, "cannot be read");
    if (count == 0) return text;
    text.append(block.data(), std::size_t(count));
    if (text.size() > kMostBytes) refuse(path, "has more than 64 MiB");
  }
}

WisdomFile parse(const std::string& text) {
  WisdomFile file;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    if (auto entry = entry_of(line))
      file.entries.push_back(std::move(*entry));
    else
      file.others.emplace_back(line);
  }
  return file;
}

/// The file that a path means, behind links: they stay.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
  if (resolved != nullptr) return resolved.get();
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) refuse(path, "is a link to what does not exist");
  return path;
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(fd, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    written += std::size_t(count);
  }
  return true;
}

/// Writes a file beside it, which takes its place when it is complete.
void replace(const std::string& path, const std::string& text, const mode_t* mode) {
  static std::atomic<unsigned> number{0};
  const std::string beside = path + "." + std::to_string(::getpid()) + "." + std::to_string(number++) + ".new";
  ::unlink(beside.c_str());  // of a process of that number that was ended; the lock is ours
  File file(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (!file) refuse_by_errno(path, "cannot be written, as " + beside + " cannot be made");
  const bool complete = (mode == nullptr || ::fchmod(file.get(), *mode) == 0) && write_all(file.get(), text) &&
                        ::fsync(file.get()) == 0 && file.close();
  if (complete && std::rename(beside.c_str(), path.c_str()) == 0) return;
  const int reason = errno;
  ::unlink(beside.c_str());
  errno = reason;
  refuse_by_errno(path, "cannot be written");
}

}  // namespace

WisdomFile read_wisdom_file(const std::string& path) {
  const File file(path, O_RDONLY | O_NONBLOCK);  // which does not wait for the other end of a pipe
  if (!file) refuse_by_errno(path, "cannot be read");
  return parse(contents(file, path));
}

void merge_into_wisdom_file(const std::string& path, std::span<const WisdomEntry> entries) {
  const std::string target = behind_links(path);
  // Beside the file and not the file itself, since that is replaced; it stays, as nobody knows who waits for it.
  const File lock(target + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
  if (!lock) refuse_by_errno(path, "cannot be written, as " + target + ".lock cannot be made");
  while (::flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR) refuse_by_errno(path, "cannot be written, as " + target + ".lock cannot be locked");
  WisdomFile known;
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists) known = read_wisdom_file(target);
  std::map<std::pair<std::string, std::string>, const WisdomEntry*> all;
  for (const WisdomEntry& entry : known.entries) all[{entry.problem, entry.machine}] = &entry;
  for (const WisdomEntry& entry : entries) all[{entry.problem, entry.machine}] = &entry;
  std::string text;
  for (const std::string& line : known.others) text += line + "\n";
  for (const auto& [key, entry] : all) text += line_of(*entry) + "\n";
  const mode_t mode = status.st_mode & 0777;
  replace(target, text, exists ? &mode : nullptr);
}

std::string state_of_file(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) return {};
  const auto number = [](auto value) { return std::to_string(value) + ","; };
  return number(s.st_dev) + number(s.st_ino) + number(s.st_size) + number(s.st_mtim.tv_sec) + number(s.st_mtim.tv_nsec);
}

}  // namespace tessera::core
