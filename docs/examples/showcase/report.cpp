// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "report.hpp"

#include <cstdio>

namespace showcase {
namespace {

void begin_row(const Subject& s) {
  std::printf("%-10s  %-4s  %-14s  %-24s  ", s.operation.c_str(), s.type.c_str(), s.backend.c_str(),
              s.algorithm.c_str());
}

}  // namespace

void Report::heading() const {
  std::printf("%-10s  %-4s  %-14s  %-24s  %10s  %18s  %11s  %s\n", "operation", "type", "backend", "algorithm", "time",
              "rate", "error/bound", "verdict");
}

void Report::compared(const Subject& subject, double seconds, double rate, const char* unit, double error_over_bound) {
  const bool agrees = error_over_bound <= 1.0;
  ++(agrees ? agreed_ : failed_);
  begin_row(subject);
  std::printf("%7.3f ms  %7.4g %-10s  %11.3g  %s\n", 1e3 * seconds, rate, unit, error_over_bound,
              agrees ? "ok" : "WRONG");
  std::fflush(stdout);  // a row at a time, also into a pipe
}

void Report::omitted(const Subject& subject, const std::string& why) {
  ++omitted_;
  begin_row(subject);
  std::printf("not run: %s\n", why.c_str());
}

void Report::failed(const Subject& subject, const std::string& why) {
  ++failed_;
  begin_row(subject);
  std::printf("FAILED: %s\n", why.c_str());
}

void Report::failed(const std::string& why) {
  ++failed_;
  std::printf("FAILED: %s\n", why.c_str());
}

int Report::finish() const {
  std::printf("%d results agree with the reference, %d not run, %d failed.\n", agreed_, omitted_, failed_);
  return failed_ == 0 && agreed_ > 0 ? 0 : 1;
}

}  // namespace showcase
