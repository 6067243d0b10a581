// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Forked children that must come to an end, and what they leave.
#pragma once

#include <tessera/tessera.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::test {

/// Seconds after which a child is taken for one that hangs.
inline constexpr unsigned kChildSeconds = 60;

/// Calls body() in a fork of this process, which then ends as a program does. Throws what went wrong there.
template <class Body>
void in_child(const std::string& what, Body&& body) {
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    alarm(kChildSeconds);
    int code = 0;
    try {
      body();
    } catch (const std::exception& e) {
      std::cerr << what << ": " << e.what() << "\n";
      code = 1;
    }
    std::exit(code);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  if (WIFSIGNALED(status))
    throw std::runtime_error(what + ": ended by signal " + std::to_string(WTERMSIG(status)) +
                             (WTERMSIG(status) == SIGALRM ? ", since it hung" : ""));
  if (WEXITSTATUS(status) != 0) throw std::runtime_error(what + ": exit code " + std::to_string(WEXITSTATUS(status)));
}

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// What a child leaves to its parent.
class Hashes {
 public:
  void keep(const std::vector<std::uint64_t>& hashes) {
    require(hashes.size() <= kMost, "more jobs than there is room for");
    std::copy(hashes.begin(), hashes.end(), shared_->hash);
    shared_->count = hashes.size();
  }
  std::vector<std::uint64_t> get() const { return {shared_->hash, shared_->hash + shared_->count}; }

 private:
  static constexpr std::size_t kMost = 200;
  struct Shared {
    std::size_t count;
    std::uint64_t hash[kMost];
  };
  Shared* shared_ =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
};

/// Asked in a child: nothing is loaded here before the test begins. Prints the reason where it is not.
inline bool is_available(const std::string& backend) {
  Hashes available;
  in_child("list", [&] {
    for (const tessera::BackendInfo& info : tessera::backends())
      if (info.name == backend) {
        available.keep({info.available});
        if (!info.available) std::cout << backend << " is not available: " << info.reason << "\n";
      }
  });
  return available.get() != std::vector<std::uint64_t>{0};
}

}  // namespace tessera::test
