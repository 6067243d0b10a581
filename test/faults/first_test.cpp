// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Calls fail at the library's first use in a process: while plugins are looked for and opened. Each attempt has a
/// process of its own, forked before that use.

#include "small_work.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace tessera::test {
namespace {

/// What a child tells, in memory that it shares with its parent.
struct Report {
  char list[16384];
  char problem[1024];
  bool hit;  ///< the call that was to fail has come
};

Report& shared_report() {
  static auto* const report =
      static_cast<Report*>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *report;
}

template <std::size_t size>
void tell(char (&place)[size], const char* text) {
  std::snprintf(place, size, "%s", text);
}

/// The list of backends as text, and a product on the emulated device, also by a plan of the cache.
std::string first_use() {
  []() noexcept { tessera_set_verbose_callback(nullptr, nullptr); }();
  std::string list;
  for (const BackendInfo& info : backends()) {
    if (info.available != info.reason.empty()) throw WrongResult("a backend that is not usable without a reason");
    list += info.name + "-" + info.variant + (info.available ? ": usable\n" : ": not usable\n");
    for (const auto& names : {info.gemm_algorithms, info.stencil_algorithms})
      for (const std::string& name : names) list += "  " + name + "\n";
  }
  Context context("faulty");
  GemmPlan plan(context, SmallGemm::kDesc), borrowed = GemmPlan::borrow(context, SmallGemm::kDesc);
  SmallGemm().on_host(plan);
  SmallGemm().on_host(borrowed);
  return list;
}

/// Without a fault: the report's list.
void tell_list() { tell(shared_report().list, first_use().c_str()); }

/// True when it succeeded. An error must be of a fitting code, and say something.
bool faulty_use(Family family) {
  Report& report = shared_report();
  try {
    const std::string list = first_use();
    // A file or a library that failed is a plugin's reason, which the list shows.
    if (family == Family::memory && list != report.list) tell(report.problem, ("another list:\n" + list).c_str());
    return true;
  } catch (const Error& error) {
    const bool fits = family != Family::memory || error.code() == ErrorCode::out_of_memory;
    if (!fits || error.what()[0] == '\0')
      std::snprintf(report.problem, sizeof report.problem, "code %d: %s", int(error.code()), error.what());
  } catch (const std::bad_alloc&) {  // the C++ headers had no memory for the message
    if (family != Family::memory) tell(report.problem, "std::bad_alloc");
  } catch (const std::exception& error) {
    tell(report.problem, error.what());
  }
  return false;
}

void child(Family family, Extent extent, std::int64_t nth) {
  Report& report = shared_report();
  bool succeeded = false;
  {
    const Injection injection(family, extent, nth);
    succeeded = faulty_use(family);
    report.hit = injection.hit();
  }
  if (report.problem[0] != '\0') return;
  // What failed was not the plugins' fault: with memory at hand all is as if it had never failed.
  if (!faulty_use(family) && family == Family::memory && report.problem[0] == '\0')
    tell(report.problem, "it fails a second time, when there is memory");
  if (succeeded && !faulty_use(family)) tell(report.problem, "it fails where it did not before");
}

/// Runs `body` in a child; "" or what went wrong.
template <class Body>
std::string in_child(Body&& body) {
  Report& report = shared_report();
  report.problem[0] = '\0';
  report.hit = true;  // unless the child tells otherwise
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);  // ends a child that hangs
    try {
      body();
    } catch (const std::exception& error) {
      tell(report.problem, error.what());
    }
    _exit(0);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return "waitpid failed";
  if (WIFSIGNALED(status)) return std::string("signal ") + strsignal(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit " + std::to_string(WEXITSTATUS(status));
  return report.problem;
}

/// How glibc's dynamic linker ends a program that has no memory for a library's thread-local data: nobody can catch it.
constexpr const char* kEndedByLinker = "exit 127";

const char* name_of(Family family) {
  return family == Family::memory ? "memory" : family == Family::files ? "files" : "libraries";
}

}  // namespace

TEST_CASE("the first use of the library survives every fault", "[first]") {
  // OpenMP's runtime may end the process, or hang, where it finds no memory for its own start: GNU's when it is loaded,
  // LLVM's at its first use.
#ifdef __clang__
  void* const runtime = dlopen("libomp.so.5", RTLD_NOW | RTLD_GLOBAL);
  if (runtime != nullptr) reinterpret_cast<int (*)()>(dlsym(runtime, "omp_get_max_threads"))();
#else
  dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
#endif
  REQUIRE(in_child(tell_list) == "");
  REQUIRE(shared_report().list[0] != '\0');
  const Family family = GENERATE(Family::memory, Family::files, Family::libraries);
  const Extent extent = GENERATE(Extent::once, Extent::for_good);
  std::int64_t nth = 0, ended_by_linker = 0;
  do {
    ++nth;
    INFO(name_of(family) << ": call " << nth
                         << (extent == Extent::once ? " failed once" : " failed, and all after it"));
    const std::string problem = in_child([&] { child(family, extent, nth); });
    if (family == Family::memory && problem == kEndedByLinker)
      ++ended_by_linker;
    else
      CHECK(problem == "");
  } while (shared_report().hit);
  CHECK(nth > 1);
  if (ended_by_linker > 0) WARN("the dynamic linker ended " << ended_by_linker << " of " << nth << " first uses");
}

}  // namespace tessera::test
