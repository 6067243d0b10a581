// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/loader.hpp"

#include "dispatch/elf_check.hpp"
#include "dispatch/examine.hpp"
#include "dispatch/listing.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <system_error>

namespace tessera::core {
namespace {

/// A file that is closed at the end.
class File {
 public:
  // A FIFO without a writer must not block, a terminal must not become the program's.
  explicit File(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor() const { return descriptor_; }

  bool read(std::uint64_t offset, void* target, std::size_t bytes) const {
    for (auto* at = static_cast<char*>(target); bytes > 0;) {
      const ssize_t got = pread(descriptor_, at, bytes, off_t(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got, offset += std::uint64_t(got), bytes -= std::size_t(got);
    }
    return true;
  }
  /// From the current position to the end, or to where reading fails.
  std::string text() const {
    std::string result;
    std::array<char, 4096> piece;
    for (ssize_t got; (got = ::read(descriptor_, piece.data(), piece.size())) != 0;) {
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) break;
      result.append(piece.data(), std::size_t(got));
    }
    return result;
  }

 private:
  int descriptor_;
};

/// "" for a whole shared library of this machine.
std::string file_problem(const std::string& path) {
  const File file(path);
  struct stat status {};
  if (file.descriptor() < 0 || fstat(file.descriptor(), &status) != 0) {
    const int error = errno;
    throw_shortage(error, path);
    return "it cannot be read: " + std::generic_category().message(error);
  }
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  return elf_problem(std::uint64_t(status.st_size), [&](std::uint64_t offset, void* target, std::size_t bytes) {
    return file.read(offset, target, bytes);
  });
}

/// What failed for want of memory succeeds at a second try, if the want was short: dlerror() often does not tell.
void* open_library(const std::string& path) {
  constexpr int flags = RTLD_NOW | RTLD_LOCAL;
  void* const library = dlopen(path.c_str(), flags);
  return library != nullptr ? library : dlopen(path.c_str(), flags);
}

/// Throws where that is the want of memory, which is no property of the file.
std::string reason_of_refusal() {
  const char* text = dlerror();
  const std::string reason = text == nullptr ? "the dynamic linker gave no reason" : text;
  if (reason == "out of memory" || reason.ends_with(std::strerror(ENOMEM))) throw std::bad_alloc();
  return reason;
}

/// What to say of a plugin without an entry point of our version.
std::string missing_entry(void* library) {
  for (std::uint32_t version = 2; version <= 9; ++version)
    if (dlsym(library, ("tessera_backend_v" + std::to_string(version)).c_str()) != nullptr) return other_abi(version);
  return "it exports no tessera_backend_v1: not a Tessera backend";
}

}  // namespace

Loaded load_backend(const std::string& path) {
  if (std::string problem = file_problem(path); !problem.empty()) return {nullptr, std::move(problem)};
  void* library = open_library(path);
  if (library == nullptr) return {nullptr, reason_of_refusal()};
  void* symbol = dlsym(library, "tessera_backend_v1");
  if (symbol == nullptr) return {nullptr, missing_entry(library)};
  Loaded loaded;
  loaded.reason =
      thrown_by("tessera_backend_v1", [&] { loaded.table = reinterpret_cast<tessera_backend_entry>(symbol)(); });
  if (loaded.table == nullptr && loaded.reason.empty()) loaded.reason = "tessera_backend_v1() returned null";
  return loaded;
}

std::optional<std::string> mapped_directory(std::string_view maps, std::uintptr_t address) {
  // "7f10-7f20 r-xp 00000000 08:01 1234    /the/path": five fields, then the path to the end of the line.
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    std::uintptr_t first = 0, last = 0;
    const char* const end = line.data() + line.size();
    const auto dash = std::from_chars(line.data(), end, first, 16).ptr;
    if (dash == end || std::from_chars(dash + 1, end, last, 16).ec != std::errc{}) continue;
    if (address < first || address >= last) continue;
    std::size_t path = std::size_t(dash - line.data());
    for (int field = 0; field < 5 && path != line.npos; ++field) path = line.find(' ', path + 1);
    path = line.find_first_not_of(' ', path);
    // No file, or one without a place. What follows the last '/' (" (deleted)", say) does not matter.
    if (path == line.npos || line[path] != '/' || line.substr(path).starts_with("/memfd:")) return std::nullopt;
    std::string directory(line.substr(path, line.rfind('/') - path));
    for (auto at = directory.find("\\012"); at != std::string::npos; at = directory.find("\\012", at))
      directory.replace(at, 4, 1, '\n');  // as the kernel writes it
    return directory;
  }
  return std::nullopt;
}

std::optional<std::string> own_directory() {
  // Not the dynamic linker's name of this file: that one may be relative to a directory that was the current one then.
  const std::string maps_file = "/proc/self/maps";
  const File file(maps_file);
  if (file.descriptor() < 0) throw_shortage(errno, maps_file);
  return mapped_directory(file.descriptor() < 0 ? "" : file.text(), reinterpret_cast<std::uintptr_t>(&own_directory));
}

bool secure_execution() { return getauxval(AT_SECURE) != 0; }

}  // namespace tessera::core
