// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A device with a stream: what every buffer, copy and plan of the backend belongs to.
#pragma once

#include <tessera/plugin/bias_gradient.hpp>
#include <tessera/plugin/complex_copy.hpp>
#include <tessera/plugin/operand_copy.hpp>
#include <tessera/plugin/triangle_copy.hpp>

#include "device.hpp"
#include "staging.hpp"

#include <cstdint>

namespace tessera::cuda {

class Context {
 public:
  using Machine = cuda::Machine;

  explicit Context(const tessera_backend_context_desc& desc);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  const cuda::Machine& machine() const { return *machine_; }
  void* native_stream() { return stream_; }

  void* allocate(std::uint64_t bytes);
  void free(void* data) noexcept;
  void copy(const tessera_copy& copy);
  /// Fills `bytes` of the device's memory with copies of the first `block`.
  void repeat(void* data, std::uint64_t block, std::uint64_t bytes);
  void synchronize();
  /// See tessera/plugin/operand_copy.hpp.
  plugin::CopyOperand copying(const plugin::OperandCopy& copy);
  static double copying_seconds(const cuda::Machine& machine, const plugin::OperandCopy& copy);
  /// See tessera/plugin/triangle_copy.hpp.
  plugin::CopyTriangle copying_triangle(const plugin::TriangleCopy& copy);
  static double copying_seconds(const cuda::Machine& machine, const plugin::TriangleCopy& copy);
  /// See tessera/plugin/complex_copy.hpp.
  plugin::CopyComplex copying_complex(const plugin::ComplexCopy& copy);
  static double copying_seconds(const cuda::Machine& machine, const plugin::ComplexCopy& copy);
  /// See tessera/plugin/bias_gradient.hpp.
  plugin::SumBias summing(const plugin::BiasGradient& gradient);
  /// What is queued from now on begins when what is queued on `earlier` by now has ended.
  void wait_for(Context& earlier);
  /// Seconds that the device counts from start_timer() until what was queued before stop_timer() is done.
  void start_timer();
  double stop_timer();

  /// The stream on which plans write their tables. Apart from stream(), so that making a plan neither
  /// waits for queued work nor disturbs a capture.
  cudaStream_t setup_stream() const { return setup_stream_; }

 private:
  void require_no_capture(const char* what) const;

  int device_;
  const cuda::Machine* machine_ = nullptr;
  bool owns_stream_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t setup_stream_ = nullptr;
  cudaEvent_t timer_[2] = {};      // start and stop, made when first needed
  cudaEvent_t reached_ = nullptr;  // how far others wait for the stream to come, made when first needed
  Staging staging_;
};

/// Device memory that a plan fills when it is made: tables of taps, or what executions leave for the next one.
class DeviceTable {
 public:
  /// Copies; complete when the constructor returns.
  DeviceTable(Context& context, const void* data, std::uint64_t bytes);
  ~DeviceTable();
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Context& context_;
  void* data_;
};

}  // namespace tessera::cuda
