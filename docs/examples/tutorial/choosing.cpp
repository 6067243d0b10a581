// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The tutorial's choosing: what there is, a backend and an algorithm by name, two threads.
// usage: tessera-tutorial-choosing [gpu]

#include <tessera/tessera.hpp>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

/// By name on a machine with a GPU: docs/selecting-a-backend.md.
void on_a_gpu(const tessera::GemmDesc& desc) {
  tessera::Context gpu("cuda:0");                             // throws backend_unavailable with the reason
  tessera::GemmPlan plan(gpu, desc, {.algorithm = "naive"});  // throws unsupported, with a list
  tessera::GemmPlan other(desc);                              // no context: chosen for this descriptor, host operands
  std::puts((plan.describe() + "\n" + other.describe()).c_str());

  tessera::Context same_stream("cuda:0", {.native_stream = gpu.native_stream()});  // a stream that the program owns
}

}  // namespace

int main(int argc, char**) {
  for (const tessera::BackendInfo& backend : tessera::backends())
    std::printf("%s%s%s: %s\n", backend.name.c_str(), backend.variant.empty() ? "" : "-", backend.variant.c_str(),
                backend.available ? "usable" : backend.reason.c_str());

  const tessera::GemmDesc desc = {.m = 64, .n = 64, .k = 64};
  if (argc > 1) on_a_gpu(desc);
  tessera::GemmPlan any(desc);  // chosen for this problem, with operands on the host
  tessera::GemmPlan measured(desc, {.effort = tessera::Effort::measure});

  tessera::Context cpu("cpu", {.threads = 1});                     // throws where there is none
  tessera::GemmPlan plain(cpu, desc, {.algorithm = "reference"});  // never falls back
  std::printf("%s, %s, %s\n", any.algorithm().c_str(), measured.algorithm().c_str(), plain.algorithm().c_str());

  tessera::GemmPlan second = plain.clone();  // the same again, for another thread
  std::vector<float> a(64 * 64, 1.0f), b(64 * 64, 1.0f), c(64 * 64), d(64 * 64);
  std::thread other([&] { second.execute(1.0f, a, b, 0.0f, d); });
  plain.execute(1.0f, a, b, 0.0f, c);
  other.join();

  return c == d && plain.algorithm().starts_with("reference") ? 0 : 1;
}
