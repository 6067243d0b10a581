// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "processes.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::test {

namespace {

constexpr int kPatience = 10'000;  // ms without an ending

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string(what) + " failed");
}

void close_all(const Descriptors& descriptors) {
  for (const int descriptor : descriptors)
    if (descriptor >= 0) ::close(descriptor);
}

/// What a rank does; its error goes to `report`.
[[noreturn]] void be_rank(int rank, const Descriptors& own, int report,
                          const std::function<void(const Comm&, Sockets&)>& body) {
  std::string error;
  try {
    Sockets* const sockets = new Sockets(rank, own);
    const Comm comm(sockets->transport());
    body(comm, *sockets);
  } catch (const std::exception& failure) {
    error = failure.what();
    if (error.empty()) error = "an exception without a text";
  }
  const ssize_t written = ::write(report, error.data(), error.size());
  ::_exit(written == ssize_t(error.size()) ? 0 : 1);
}

struct Process {
  pid_t id;
  int report;
};

/// Reads reports until all have ended, or none has for long.
void watch(const std::vector<Process>& processes, std::vector<Ending>& endings) {
  std::vector<pollfd> polled;
  for (const Process& process : processes) polled.push_back({process.report, POLLIN, 0});
  for (std::size_t left = polled.size(); left > 0;) {
    if (::poll(polled.data(), polled.size(), kPatience) <= 0) break;
    for (std::size_t rank = 0; rank < polled.size(); ++rank) {
      if (polled[rank].fd < 0 || polled[rank].revents == 0) continue;
      char text[1024];
      const ssize_t count = ::read(polled[rank].fd, text, sizeof text);
      if (count > 0) endings[rank].error.append(text, std::size_t(count));
      if (count <= 0) polled[rank].fd = -1, --left;
    }
  }
  for (std::size_t rank = 0; rank < polled.size(); ++rank) endings[rank].hung = polled[rank].fd >= 0;
}

}  // namespace

std::vector<Ending> on_processes(int count, const std::function<void(const Comm&, Sockets&)>& body) {
  std::fflush(nullptr);  // else each of them writes what is not written yet
  const std::vector<Descriptors> ends = connect_all(count);
  std::vector<Process> processes;
  for (int rank = 0; rank < count; ++rank) {
    int report[2];
    require(::pipe(report) == 0, "pipe");
    const pid_t id = ::fork();
    require(id >= 0, "fork");
    if (id == 0) {
      for (int other = 0; other < count; ++other)
        if (other != rank) close_all(ends[std::size_t(other)]);
      for (const Process& before : processes) ::close(before.report);
      ::close(report[0]);
      be_rank(rank, ends[std::size_t(rank)], report[1], body);
    }
    ::close(report[1]);
    processes.push_back({id, report[0]});
  }
  for (const Descriptors& own : ends) close_all(own);
  std::vector<Ending> endings(processes.size());
  watch(processes, endings);
  for (std::size_t rank = 0; rank < processes.size(); ++rank) {
    if (endings[rank].hung) ::kill(processes[rank].id, SIGKILL);
    int status = 0;
    require(::waitpid(processes[rank].id, &status, 0) == processes[rank].id, "waitpid");
    endings[rank].signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ::close(processes[rank].report);
  }
  return endings;
}

}  // namespace tessera::test
