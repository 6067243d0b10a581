// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What is used of CUDA's driver, which is loaded where it is there: copies within and between devices, and events.
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

class Driver {
 public:
  /// Loaded once; throws where something is missing.
  static const Driver& get();

  /// The device of a context's stream, as the driver has it; throws where it is none of CUDA.
  void* device_of(tessera_context* context) const;
  /// Its number in this process.
  int number_of(void* device) const;
  /// Which device of all there are it is.
  std::array<unsigned char, 16> identity_of(void* device) const;
  std::uint64_t memory_of(void* device) const;
  int multiprocessors_of(void* device) const;
  /// Whether `device` can read the memory of `peer` over a link; allows it then.
  bool reaches(void* device, void* peer) const;
  /// Whether memory is open to other devices once they are allowed to reach its own, as that of pools is not.
  bool is_open(const void* data) const;

  /// Queues a copy on a stream of the device.
  void copy(void* device, void* stream, const Lines& lines) const;

 private:
  friend class CurrentDevice;
  friend class DeviceEvent;
  Driver();
  void check(int status, const char* what) const;

  int (*stream_context_)(void*, void**);
  int (*push_context_)(void*);
  int (*pop_context_)(void**);
  int (*device_)(int*);
  int (*identity_)(void*, int);
  int (*total_memory_)(std::size_t*, int);
  int (*device_attribute_)(int*, int, int);
  int (*can_access_)(int*, int, int);
  int (*enable_access_)(void*, unsigned);
  int (*attribute_)(void*, int, std::uintptr_t);
  int (*copy_)(std::uintptr_t, std::uintptr_t, std::size_t, void*);
  int (*copy_lines_)(const void*, void*);
  int (*create_event_)(void**, unsigned);
  int (*destroy_event_)(void*);
  int (*record_)(void*, void*);
  int (*wait_)(void*, void*, unsigned);
};

/// Makes a device the calling thread's as long as this lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(void* device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
};

/// A point in a stream of a device, for which streams of any device of the process can wait.
class DeviceEvent {
 public:
  explicit DeviceEvent(void* device);
  ~DeviceEvent();
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;

  /// On a stream of its device.
  void record(void* stream);
  /// What is queued on a stream of `device` from now on waits for what was recorded last.
  void hold(void* device, void* stream) const;

 private:
  void* device_;
  void* event_ = nullptr;
};

}  // namespace tessera::distributed
