// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What is used of CUDA's driver, which is loaded where it is there: copies within and between devices, and events.
/// Everything throws where something is missing. A device is its context in the driver.
#pragma once

#include "handles.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::distributed {

/// Opens a library, or throws the reason why not.
void* open_library(const char* name);
/// A function of it, or throws.
void* find_function(void* library, const char* name);
template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(find_function(library, name));
}

/// Lines of bytes that go from one place of a device's memory to another one.
struct Lines {
  const void* from;
  void* to;
  std::size_t from_apart, to_apart;  ///< bytes from one line to the next
  std::size_t count, bytes;          ///< lines, and of each
};

/// The stream on which a context's work is queued.
inline void* stream_of(tessera_context* context) {
  void* stream = nullptr;
  call(tessera_context_native_stream, context, &stream);
  return stream;
}

namespace driver {

/// The device of a context's stream; throws where it is none of CUDA.
void* device_of(tessera_context* context);
/// Which device of all there are it is.
std::array<unsigned char, 16> identity_of(void* device);
std::uint64_t memory_of(void* device);
int multiprocessors_of(void* device);
/// Whether `device` can read the memory of `peer` over a link; allows it then.
bool reaches(void* device, void* peer);
/// Whether memory is open to other devices once they are allowed to reach its own, as that of pools is not.
bool is_open(const void* data);
/// Queues a copy on a stream of the device.
void copy(void* device, void* stream, const Lines& lines);

/// Makes a device the calling thread's as long as this lives.
class Current {
 public:
  explicit Current(void* device);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

/// A point in a stream of a device, for which streams of any device of the process can wait.
class Event {
 public:
  explicit Event(void* device);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// On a stream of its device.
  void record(void* stream);
  /// What is queued on a stream of `device` from now on waits for what was recorded last.
  void hold(void* device, void* stream) const;

 private:
  void* device_;
  void* event_ = nullptr;
};

}  // namespace driver
}  // namespace tessera::distributed
