// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "transfer.hpp"

#include "error.hpp"
#include "staging.hpp"

#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace tessera::cuda {
namespace {

/// Below this a copy is all latency, and pinned chunks gain nothing.
constexpr std::int64_t kSmallBytes = std::int64_t(64) << 10;
/// Shorter rows cost the DMA engine more than packing them costs the CPU.
constexpr std::int64_t kDirectRowBytes = 512;
/// cudaMemcpy2D refuses larger pitches.
constexpr std::int64_t kMaxPitch = std::numeric_limits<std::int32_t>::max();

struct Axis {
  std::int64_t extent;
  std::int64_t host, device;  ///< strides in elements
};

/// A copy with its axes ordered as the device array is, and as few of them as will do.
class Layout {
 public:
  explicit Layout(const tessera_copy& copy)
      : element_(std::int64_t(copy.element_size)), to_device_(copy.direction == TESSERA_COPY_TO_DEVICE) {
    const auto* host_strides = to_device_ ? copy.source_strides : copy.target_strides;
    const auto* device_strides = to_device_ ? copy.target_strides : copy.source_strides;
    host_ = static_cast<unsigned char*>(to_device_ ? const_cast<void*>(copy.source) : copy.target);
    device_ = static_cast<unsigned char*>(to_device_ ? copy.target : const_cast<void*>(copy.source));
    for (int i = 0; i < copy.rank; ++i) {
      elements_ *= copy.extents[i];
      if (copy.extents[i] != 1) add({copy.extents[i], host_strides[i], device_strides[i]});
    }
    if (rank_ == 0) add({1, 1, 1});
    std::stable_sort(axes_.begin(), axes_.begin() + rank_, [](const Axis& a, const Axis& b) {
      return a.device != b.device ? a.device > b.device : a.host > b.host;
    });
    merge();
    outer_ = rank_;
    if (axes_[rank_ - 1].device == 1) {
      device_run_ = axes_[rank_ - 1].extent;
      outer_ = rank_ - 1;
      while (outer_ > 0 && axes_[outer_ - 1].device == device_run_) device_run_ *= axes_[--outer_].extent;
    }
  }

  bool to_device() const { return to_device_; }
  std::int64_t elements() const { return elements_; }
  std::int64_t element_bytes() const { return element_; }
  std::int64_t bytes() const { return elements_ * element_; }
  const unsigned char* host_begin() const { return host_; }
  const unsigned char* host_last() const {
    std::int64_t last = 0;
    for (int i = 0; i < rank_; ++i) last += (axes_[i].extent - 1) * axes_[i].host;
    return host_ + last * element_;
  }

  /// True where whole rows can travel without the CPU touching them.
  bool direct() const {
    const Axis& row = axes_[rank_ - 1];
    return row.host == 1 && row.device == 1 && (rank_ == 1 || row.extent * element_ >= kDirectRowBytes);
  }

  /// Queues the whole copy between the two arrays; direct() holds.
  void queue_direct(cudaStream_t stream) const {
    const std::int64_t width = axes_[rank_ - 1].extent;
    const Axis row = rank_ > 1 ? axes_[rank_ - 2] : Axis{1, width, width};
    const std::int64_t planes = elements_ / (width * row.extent);
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      std::int64_t host = 0, device = 0, rest = plane;
      for (int i = rank_ - 3; i >= 0; --i) {
        host += rest % axes_[i].extent * axes_[i].host;
        device += rest % axes_[i].extent * axes_[i].device;
        rest /= axes_[i].extent;
      }
      queue_rows(host_ + host * element_, row.host, device_ + device * element_, row.device, width, row.extent, stream);
    }
  }

  /// Queues the transfer of elements [first, first + count), counted in the order of the axes, between
  /// the device array and a packed chunk.
  void queue_packed(std::int64_t first, std::int64_t count, unsigned char* chunk, cudaStream_t stream) const {
    while (count > 0) {
      const std::int64_t run = first / device_run_, within = first % device_run_;
      std::int64_t offset = within, rest = run, rows_left = 1, pitch = device_run_;
      for (int i = outer_ - 1; i >= 0; --i) {
        if (i == outer_ - 1) rows_left = axes_[i].extent - rest % axes_[i].extent, pitch = axes_[i].device;
        offset += rest % axes_[i].extent * axes_[i].device;
        rest /= axes_[i].extent;
      }
      const bool whole_rows = within == 0 && count >= device_run_;
      const std::int64_t width = whole_rows ? device_run_ : std::min(device_run_ - within, count);
      const std::int64_t rows = whole_rows ? std::min(rows_left, count / device_run_) : 1;
      queue_rows(chunk, width, device_ + offset * element_, pitch, width, rows, stream);
      chunk += width * rows * element_;
      first += width * rows;
      count -= width * rows;
    }
  }

  /// Copies elements [first, first + count) between the host array and a packed chunk.
  void pack(std::int64_t first, std::int64_t count, unsigned char* chunk) const {
    const Axis& row = axes_[rank_ - 1];
    while (count > 0) {
      std::int64_t offset = 0, rest = first / row.extent;
      for (int i = rank_ - 2; i >= 0; --i) {
        offset += rest % axes_[i].extent * axes_[i].host;
        rest /= axes_[i].extent;
      }
      const std::int64_t within = first % row.extent, width = std::min(row.extent - within, count);
      pack_row(host_ + (offset + within * row.host) * element_, row.host, width, chunk);
      chunk += width * element_;
      first += width;
      count -= width;
    }
  }

 private:
  void add(const Axis& axis) { axes_[std::size_t(rank_++)] = axis; }

  /// Joins neighbouring axes that both arrays walk as one.
  void merge() {
    int kept = 0;
    for (int i = 1; i < rank_; ++i) {
      Axis& outer = axes_[std::size_t(kept)];
      const Axis& inner = axes_[std::size_t(i)];
      if (outer.host == inner.host * inner.extent && outer.device == inner.device * inner.extent)
        outer = {outer.extent * inner.extent, inner.host, inner.device};
      else
        axes_[std::size_t(++kept)] = inner;
    }
    rank_ = kept + 1;
  }

  void queue_rows(unsigned char* host, std::int64_t host_pitch, unsigned char* device, std::int64_t device_pitch,
                  std::int64_t width, std::int64_t rows, cudaStream_t stream) const {
    unsigned char* const target = to_device_ ? device : host;
    const unsigned char* const source = to_device_ ? host : device;
    const std::int64_t target_pitch = (to_device_ ? device_pitch : host_pitch) * element_;
    const std::int64_t source_pitch = (to_device_ ? host_pitch : device_pitch) * element_;
    const std::int64_t bytes = width * element_;
    const auto kind = to_device_ ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    const bool pitched =
        std::min(target_pitch, source_pitch) >= bytes && std::max(target_pitch, source_pitch) <= kMaxPitch;
    if (rows > 1 && pitched) {
      TESSERA_CUDA_CHECK(cudaMemcpy2DAsync(target, std::size_t(target_pitch), source, std::size_t(source_pitch),
                                           std::size_t(bytes), std::size_t(rows), kind, stream));
      return;
    }
    for (std::int64_t i = 0; i < rows; ++i)
      TESSERA_CUDA_CHECK(
          cudaMemcpyAsync(target + i * target_pitch, source + i * source_pitch, std::size_t(bytes), kind, stream));
  }

  void pack_row(unsigned char* host, std::int64_t stride, std::int64_t width, unsigned char* chunk) const {
    if (stride == 1) {
      to_device_ ? std::memcpy(chunk, host, std::size_t(width * element_))
                 : std::memcpy(host, chunk, std::size_t(width * element_));
    } else if (element_ == 4) {
      pack_strided<4>(host, stride, width, chunk);
    } else if (element_ == 8) {
      pack_strided<8>(host, stride, width, chunk);
    } else {
      for (std::int64_t i = 0; i < width; ++i) pack_row(host + i * stride * element_, 1, 1, chunk + i * element_);
    }
  }

  template <int kBytes>
  void pack_strided(unsigned char* host, std::int64_t stride, std::int64_t width, unsigned char* chunk) const {
    const std::int64_t step = stride * kBytes;
    if (to_device_)
      for (std::int64_t i = 0; i < width; ++i) std::memcpy(chunk + i * kBytes, host + i * step, kBytes);
    else
      for (std::int64_t i = 0; i < width; ++i) std::memcpy(host + i * step, chunk + i * kBytes, kBytes);
  }

  std::array<Axis, TESSERA_COPY_MAX_RANK> axes_{};
  int rank_ = 0;
  int outer_ = 0;                ///< axes outside the device's contiguous runs
  std::int64_t device_run_ = 1;  ///< elements in such a run
  std::int64_t elements_ = 1;
  std::int64_t element_;
  bool to_device_;
  unsigned char* host_;
  unsigned char* device_;
};

bool is_pinned(const void* host) {
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, host);
  ignore(error);
  return error == cudaSuccess && (attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeManaged);
}

/// Waits on the way out, also by an exception: nothing may still be moving from or to memory of ours
/// or of the caller's.
class WaitAtExit {
 public:
  explicit WaitAtExit(cudaStream_t stream) : stream_(stream) {}
  ~WaitAtExit() {
    if (!waited_) ignore(cudaStreamSynchronize(stream_));
  }
  WaitAtExit(const WaitAtExit&) = delete;
  WaitAtExit& operator=(const WaitAtExit&) = delete;
  void wait() {
    waited_ = true;
    TESSERA_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

 private:
  cudaStream_t stream_;
  bool waited_ = false;
};

void transfer_direct(const Layout& layout, cudaStream_t stream) {
  WaitAtExit end(stream);
  layout.queue_direct(stream);
  end.wait();
}

void transfer_small(const Layout& layout, cudaStream_t stream) {
  std::vector<unsigned char> chunk(std::size_t(layout.bytes()));
  WaitAtExit end(stream);
  if (layout.to_device()) layout.pack(0, layout.elements(), chunk.data());
  layout.queue_packed(0, layout.elements(), chunk.data(), stream);
  end.wait();
  if (!layout.to_device()) layout.pack(0, layout.elements(), chunk.data());
}

void transfer_staged(const Layout& layout, cudaStream_t stream, Staging& staging) {
  const std::lock_guard lock(staging.mutex);
  staging.require();
  WaitAtExit end(stream);
  const std::int64_t part = std::int64_t(Staging::kChunkBytes) / layout.element_bytes();
  const std::int64_t parts = plugin::ceil_div(layout.elements(), part);
  const auto count = [&](std::int64_t i) { return std::min(part, layout.elements() - i * part); };
  const auto queue = [&](std::int64_t i) {
    layout.queue_packed(i * part, count(i), staging.chunk[i % 2], stream);
    TESSERA_CUDA_CHECK(cudaEventRecord(staging.moved[i % 2], stream));
  };
  if (layout.to_device()) {
    for (std::int64_t i = 0; i < parts; ++i) {
      if (i >= 2) TESSERA_CUDA_CHECK(cudaEventSynchronize(staging.moved[i % 2]));
      layout.pack(i * part, count(i), staging.chunk[i % 2]);
      queue(i);
    }
  } else {
    queue(0);
    for (std::int64_t i = 0; i < parts; ++i) {
      if (i + 1 < parts) queue(i + 1);
      TESSERA_CUDA_CHECK(cudaEventSynchronize(staging.moved[i % 2]));
      layout.pack(i * part, count(i), staging.chunk[i % 2]);
    }
  }
  end.wait();
}

}  // namespace

void transfer(const tessera_copy& copy, cudaStream_t stream, Staging& staging) {
  if (copy.rank < 0 || copy.rank > TESSERA_COPY_MAX_RANK || copy.element_size == 0 ||
      copy.element_size > Staging::kChunkBytes)
    throw plugin::Error(TESSERA_INTERNAL, "a copy of rank " + std::to_string(copy.rank) + " with elements of " +
                                              std::to_string(copy.element_size) + " bytes");
  for (int i = 0; i < copy.rank; ++i)
    if (copy.extents[i] == 0) return;
  const Layout layout(copy);
  if (layout.direct() && is_pinned(layout.host_begin()) && is_pinned(layout.host_last()))
    transfer_direct(layout, stream);
  else if (layout.bytes() < kSmallBytes)
    transfer_small(layout, stream);
  else
    transfer_staged(layout, stream, staging);
}

}  // namespace tessera::cuda
