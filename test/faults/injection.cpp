// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "injection.hpp"

#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace tessera::test {
namespace {

struct Range {
  std::uintptr_t first, last;
};

// Plain data, ready before any constructor runs: malloc is called that early.
std::atomic<bool> g_armed{false};
std::atomic<Family> g_family{};
std::atomic<Extent> g_extent{};
std::atomic<std::int64_t> g_nth{0}, g_calls{0};
constinit std::array<Range, 16> g_spared{};
constinit std::size_t g_spared_count = 0;

int spare(dl_phdr_info* library, std::size_t, void*) {
  const char* const name = library->dlpi_name;
  if (std::strstr(name, "libgomp") == nullptr && std::strstr(name, "libomp") == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum && g_spared_count < g_spared.size(); ++i) {
    const auto& segment = library->dlpi_phdr[i];
    const std::uintptr_t first = library->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD) g_spared[g_spared_count++] = {first, first + segment.p_memsz};
  }
  return 0;
}

}  // namespace

Injection::Injection(Family family, Extent extent, std::int64_t nth) {
  g_spared_count = 0;
  dl_iterate_phdr(spare, nullptr);
  g_family = family;
  g_extent = extent;
  g_nth = nth;
  g_calls = 0;
  g_armed = true;
}

Injection::~Injection() { g_armed = false; }

bool Injection::hit() const { return g_calls >= g_nth; }

bool call_fails(Family family, const void* caller) noexcept {
  if (!g_armed || g_family != family) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < g_spared_count; ++i)
    if (address >= g_spared[i].first && address < g_spared[i].last) return false;
  const std::int64_t call = ++g_calls;
  return call == g_nth || (call > g_nth && g_extent == Extent::for_good);
}

}  // namespace tessera::test
