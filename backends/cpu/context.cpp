// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "context.hpp"

#include "thread_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace tessera::cpu {
namespace {

using plugin::Error;

constexpr std::uint64_t kPage = 4096;
/// Blocks from here on may lie on pages of 2 MiB, of which they then use at least half.
constexpr std::uint64_t kHugePages = std::uint64_t{4} << 20;
/// A load whose address agrees in the lower 12 bits with a store still in flight waits for it, so in
/// and out of a stencil should not start at one offset modulo 4 KiB. Half a page keeps two buffers
/// apart in both directions (steps alternate between them), the quarter sets off a third.
constexpr std::uint64_t kPageOffsets[] = {0, 2048, 1024, 3072};

/// A copy with all its axes: those that the caller's array lacks lead, with extent 1. Bytes.
struct Copy {
  std::int64_t extents[TESSERA_COPY_MAX_RANK];
  std::int64_t target_strides[TESSERA_COPY_MAX_RANK], source_strides[TESSERA_COPY_MAX_RANK];
  std::size_t element_size;

  explicit Copy(const tessera_copy& c) : element_size(c.element_size) {
    const int lead = TESSERA_COPY_MAX_RANK - c.rank;
    for (int axis = 0; axis < TESSERA_COPY_MAX_RANK; ++axis) {
      const bool real = axis >= lead;
      extents[axis] = real ? c.extents[axis - lead] : 1;
      target_strides[axis] = real ? c.target_strides[axis - lead] * std::int64_t(element_size) : 0;
      source_strides[axis] = real ? c.source_strides[axis - lead] * std::int64_t(element_size) : 0;
    }
  }

  /// Bytes read and written.
  double traffic() const {
    double bytes = 2.0 * double(element_size);
    for (const std::int64_t extent : extents) bytes *= double(extent);
    return bytes;
  }

  /// A team member's part of the copy: a chunk of the longest axis.
  void run_share(const Team& team, unsigned char* target, const unsigned char* source) const {
    const auto axis = std::max_element(std::begin(extents), std::end(extents)) - std::begin(extents);
    const std::int64_t begin = team.begin(extents[axis]);
    Copy part = *this;
    part.extents[axis] = team.end(extents[axis]) - begin;
    part.run(target + begin * target_strides[axis], source + begin * source_strides[axis]);
  }

  /// What is left of the copy from kAxis on inwards.
  template <int kAxis = 0>
  void run(unsigned char* target, const unsigned char* source) const {
    if constexpr (kAxis == TESSERA_COPY_MAX_RANK) {
      std::memcpy(target, source, element_size);
    } else {
      if (kAxis == TESSERA_COPY_MAX_RANK - 1 && packed()) {
        std::memcpy(target, source, std::size_t(extents[kAxis]) * element_size);
        return;
      }
      for (std::int64_t i = 0; i < extents[kAxis]; ++i)
        run<kAxis + 1>(target + i * target_strides[kAxis], source + i * source_strides[kAxis]);
    }
  }

 private:
  bool packed() const {
    constexpr int kLast = TESSERA_COPY_MAX_RANK - 1;
    const std::int64_t element = std::int64_t(element_size);
    return target_strides[kLast] == element && source_strides[kLast] == element;
  }
};

}  // namespace

Context::Context(const tessera_backend_context_desc& desc) : machine_(machine_here(desc.threads)) {
  if (desc.wrap_stream != 0)
    throw Error(TESSERA_UNSUPPORTED,
                "the cpu backend has no streams to wrap; make the context without a native stream");
}

void* Context::allocate(std::uint64_t bytes) {
  const std::uint64_t offset = kPageOffsets[allocations_++ % std::size(kPageOffsets)];
  void* page = nullptr;
  // Not std::aligned_alloc, which takes whole pages: AddressSanitizer would not see what goes beyond `bytes`.
  if (bytes > std::uint64_t(std::numeric_limits<std::int64_t>::max()) - kPage ||
      posix_memalign(&page, kPage, offset + std::max<std::uint64_t>(bytes, 1)) != 0)
    throw Error(TESSERA_OUT_OF_MEMORY, "cannot allocate " + std::to_string(bytes) + " bytes of host memory");
#if defined(MADV_HUGEPAGE)
  // A hint. Sweeps run as fast on small pages, but the first copy into a block takes half the time on large ones.
  if (bytes >= kHugePages) madvise(page, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<unsigned char*>(page) + offset;
}

void Context::free(void* data) noexcept {
  // Every offset is below a page: the block began at the start of the page.
  auto* bytes = static_cast<unsigned char*>(data);
  if (bytes != nullptr) std::free(bytes - reinterpret_cast<std::uintptr_t>(bytes) % kPage);
}

void Context::copy(const tessera_copy& copy) {
  if (copy.rank < 0 || copy.rank > TESSERA_COPY_MAX_RANK)
    throw Error(TESSERA_UNSUPPORTED, "a copy of rank " + std::to_string(copy.rank) + "; the most is " +
                                         std::to_string(TESSERA_COPY_MAX_RANK));
  if (std::any_of(copy.extents, copy.extents + copy.rank, [](std::int64_t extent) { return extent <= 0; })) return;
  const Copy work(copy);
  // Threads also place the pages that they are the first to touch: near those that will use them.
  run_team(machine_.useful_threads(work.traffic() / machine_.bandwidth(1)), [&](const Team& team) {
    work.run_share(team, static_cast<unsigned char*>(copy.target), static_cast<const unsigned char*>(copy.source));
  });
}

void* Context::native_stream() {
  throw Error(TESSERA_UNSUPPORTED, "the cpu backend has no native stream: its work is done when execute() returns");
}

}  // namespace tessera::cpu
