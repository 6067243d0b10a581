// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "stop.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

#include <unistd.h>

namespace tessera::test {
namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

std::array<char, 1024> g_running{};  // a signal's handler may not allocate
std::array<struct sigaction, std::size(kFatal)> g_before{};

void print(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(EXIT_FAILURE);
}

[[noreturn]] void end_program(std::string_view damage) {
  print("\nSTOPPED: ");
  print(g_running.data());
  print(": ");
  print(damage);
  print("\nThe rest is left out, since memory is damaged.\n");
  ::_exit(EXIT_FAILURE);
}

void on_signal(int signal) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "ended by signal %d", signal);
  end_program(text.data());
}

}  // namespace

Running::Running(const std::string& what) {
  std::cout.flush();  // a handler cannot print what was reported before
  std::snprintf(g_running.data(), g_running.size(), "%s", what.c_str());
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < std::size(kFatal); ++i) ::sigaction(kFatal[i], &action, &g_before[i]);
}

Running::~Running() {
  for (std::size_t i = 0; i < std::size(kFatal); ++i) ::sigaction(kFatal[i], &g_before[i], nullptr);
  g_running[0] = '\0';
}

void stop(const std::string& damage) {
  std::cout.flush();
  end_program(damage);
}

}  // namespace tessera::test
