// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Forked children that must come to an end.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>

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

}  // namespace tessera::test
