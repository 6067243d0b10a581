// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A small backend: what it is called, where it runs, its memory. Its algorithms register themselves.

#include "backend.hpp"

#include <cstdlib>
#include <cstring>

namespace simple {
namespace {

/// Copies what is left of the array from `axis` on inwards.
void copy_from(const tessera_copy& c, int axis, unsigned char* target, const unsigned char* source) {
  if (axis >= c.rank || axis >= TESSERA_COPY_MAX_RANK) {
    std::memcpy(target, source, c.element_size);
    return;
  }
  for (std::int64_t i = 0; i < c.extents[axis]; ++i)
    copy_from(c, axis + 1, target + i * c.target_strides[axis] * std::int64_t(c.element_size),
              source + i * c.source_strides[axis] * std::int64_t(c.element_size));
}

struct Backend {
  using Context = simple::Context;
  static constexpr const char* kName = TESSERA_BACKEND_NAME;
  static constexpr std::uint32_t kFlags = TESSERA_BACKEND_ON_HOST;  // operands are never staged

  static const char* build_info() { return "an example"; }
  static void require_available() {}  // throws plugin::Error with the reason where it cannot run
  static std::vector<plugin::Device> devices() { return {{"one thread", std::uint64_t{1} << 30}}; }
  static Machine machine(int, int) { return {}; }
};

}  // namespace

void* Context::allocate(std::uint64_t bytes) {
  void* const data = std::aligned_alloc(256, (bytes / 256 + 1) * 256);
  if (data == nullptr) throw plugin::Error(TESSERA_OUT_OF_MEMORY, std::to_string(bytes) + " bytes cannot be had");
  return data;
}

void Context::free(void* data) noexcept { std::free(data); }

void Context::copy(const tessera_copy& c) {
  copy_from(c, 0, static_cast<unsigned char*>(c.target), static_cast<const unsigned char*>(c.source));
}

void* Context::native_stream() { throw plugin::Error(TESSERA_UNSUPPORTED, "this backend has no streams"); }

}  // namespace simple

TESSERA_DEFINE_BACKEND(simple::Backend)
