// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Buffer: typed memory of a context's device.
#pragma once

#include <tessera/context.hpp>
#include <tessera/integer.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace tessera {

/// `size` elements in the memory of a context's device, not initialised. Move-only; destruction waits
/// for queued work of the context.
template <class T>
requires std::is_trivially_copyable_v<T>
class Buffer {
 public:
  Buffer(const Context& context, Integer size) : size_(size) {
    constexpr auto most = (std::numeric_limits<std::int64_t>::max)() / std::int64_t{sizeof(T)};
    if (size_ < 0 || size_ > most)
      throw Error(ErrorCode::invalid_argument,
                  "size = " + std::to_string(size_) + ": must lie in [0, " + std::to_string(most) + "]");
    tessera_buffer* made = nullptr;
    detail::call(tessera_buffer_create, context.get(), size_ * std::int64_t{sizeof(T)}, &made);
    handle_.reset(made);
  }

  /// Device pointer; valid until the buffer is destroyed.
  T* data() { return static_cast<T*>(tessera_buffer_data(handle_.get())); }
  const T* data() const { return static_cast<const T*>(tessera_buffer_data(handle_.get())); }
  std::int64_t size() const { return size_; }

  /// Copies `source` to the elements from `first` on, behind all work queued before. `source` may be reused on return.
  void upload(std::span<const T> source, std::int64_t first = 0) {
    check(source.size(), first);
    detail::call(tessera_buffer_upload, handle_.get(), first * std::int64_t{sizeof(T)}, source.data(),
                 std::int64_t(source.size_bytes()));
  }
  /// Copies the elements from `first` on to `target`, behind all work queued before; complete on return.
  void download(std::span<T> target, std::int64_t first = 0) const {
    check(target.size(), first);
    detail::call(tessera_buffer_download, handle_.get(), first * std::int64_t{sizeof(T)}, target.data(),
                 std::int64_t(target.size_bytes()));
  }

 private:
  void check(std::size_t count, std::int64_t first) const {
    if (first < 0 || first > size_ || count > std::uint64_t(size_ - first))
      throw Error(ErrorCode::invalid_argument, "elements [" + std::to_string(first) + ", " + std::to_string(first) +
                                                   " + " + std::to_string(count) + ") lie outside the buffer of " +
                                                   std::to_string(size_));
  }
  struct Destroy {
    void operator()(tessera_buffer* buffer) const { tessera_buffer_destroy(buffer); }
  };
  std::int64_t size_;
  std::unique_ptr<tessera_buffer, Destroy> handle_;
};

}  // namespace tessera
