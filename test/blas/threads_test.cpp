// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Threads, forks, ends of threads and of the program, and the steady state. One scenario a process:
/// threads_test SCENARIO ends with 0 where all is well.

#include "../threads/child.hpp"
#include "work.hpp"

#include <tessera/tessera.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <thread>

extern "C" void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);

namespace {
std::atomic<std::int64_t> g_allocations{0};
}

// Of the whole process, the library's as well.
[[gnu::visibility("default")]] void* operator new(std::size_t bytes) {
  ++g_allocations;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::visibility("default"), gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::visibility("default"), gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using namespace tessera::test;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// Runs body(i) in that many threads; throws what one of them threw.
void in_threads(int count, const std::function<void(int)>& body) {
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      try {
        body(i);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

void threads() {
  const Products products(dgemm_);
  for (int round = 0; round < 4; ++round)  // each time with new threads, whose tables are empty
    in_threads(8, [&](int i) {
      for (int p = 0; p < 3 * Products::kCount; ++p) products.check((p * (2 * i + 1)) % Products::kCount);
    });
  const auto info = tessera::plan_cache::info();
  require(info.lent <= 64, "ended threads still have plans: " + std::to_string(info.lent) + " are lent");
}

void parallel_region() {
  const Products products(dgemm_);
  std::atomic<int> failures{0};
#pragma omp parallel for num_threads(4) schedule(dynamic)
  for (int p = 0; p < 6 * Products::kCount; ++p) {
    try {
      products.check(p % Products::kCount);
    } catch (const std::exception&) {
      ++failures;
    }
  }
  require(failures == 0, std::to_string(failures) + " products have other bits");
}

void forked() {
  const Products products(dgemm_);
  products.check_all();
  products.check(85);
  in_child("a child", [&] {
    products.check(85);  // of which this thread had a plan
    require(tessera::plan_cache::info().made == 1, "a plan of the parent was used");
    products.check_all();
  });
  in_threads(2, [&](int) { products.check_all(); });
  in_child("a child of a process with threads", [&] {
    products.check_all();
    in_threads(2, [&](int) { products.check_all(); });
    in_child("its child", [&] { products.check_all(); });
  });
  std::thread([&] {
    products.check(85);
    in_child("a child of a thread", [&] { products.check_all(); });
  }).join();
  products.check_all();
}

/// Children of a process whose other threads are in the middle of products.
void forked_meanwhile() {
  const Products products(dgemm_);
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    for (int p = 0; !stop; p = (p + 7) % Products::kCount) products.check(p);
  });
  try {
    for (int i = 0; i < 30; ++i) in_child("child " + std::to_string(i), [&] { products.check_all(); });
  } catch (...) {
    stop = true;
    busy.join();
    throw;
  }
  stop = true;
  busy.join();
}

/// Its child makes the library's first product.
void forked_before() {
  in_child("a child", [] { Products(dgemm_).check_all(); });
  Products(dgemm_).check_all();
}

/// Products when the table of the thread is gone already, and all other objects go.
struct Late {
  std::unique_ptr<Products> products;
  ~Late() {
    if (products != nullptr) products->check_all();  // what it throws ends the program
  }
};
Late g_static;
thread_local Late g_local;

void late() {
  g_static.products = std::make_unique<Products>(dgemm_);
  g_local.products = std::make_unique<Products>(dgemm_);
  std::thread([] { g_local.products = std::make_unique<Products>(dgemm_); }).join();
}

/// Calls of one size: small ones take no plan, others the one that the thread has.
void steady(int n, std::uint64_t plans) {
  constexpr int kCalls = 1000;
  const double one = 1.0, zero = 0.0;
  std::vector<double> a(std::size_t(n * n), 1.0), c(a.size());
  const auto call = [&] { dgemm_("N", "T", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n); };
  call();
  call();
  const auto before = tessera::plan_cache::info();
  const std::int64_t allocations = g_allocations;
  for (int i = 0; i < kCalls; ++i) call();
  const std::int64_t more = g_allocations - allocations;
  const auto after = tessera::plan_cache::info();
  require(more == 0, std::to_string(more) + " allocations in " + std::to_string(kCalls) + " calls");
  require(after.found == before.found && after.made == before.made, "the plan cache was asked");
  require(before.made == plans && before.lent == std::int64_t(plans),
          "another number of plans than one for " + std::to_string(n));
}
void steady() {
  steady(8, 0);
  steady(70, 1);
}

/// The first products of a process, by many threads at a time, and while the environment is read again.
void first() {
  in_threads(8, [](int i) { Products(dgemm_, 20 + i % 2).check_all(); });
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) tessera_reload_environment(nullptr);
  });
  in_threads(4, [](int) { Products(dgemm_, 64).check_all(); });
  stop = true;
  reader.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> scenarios = {{"threads", threads},
                                                       {"parallel_region", parallel_region},
                                                       {"forked", forked},
                                                       {"late", late},
                                                       {"forked_meanwhile", forked_meanwhile},
                                                       {"forked_before", forked_before},
                                                       {"steady", steady},
                                                       {"first", first}};
  const auto found = scenarios.find(argc > 1 ? argv[1] : "");
  if (found == scenarios.end()) return 2;
  try {
    found->second();
  } catch (const std::exception& e) {
    std::cerr << found->first << ": " << e.what() << "\n";
    return 1;
  }
}
