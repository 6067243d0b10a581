// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A backend's context as the core holds it, and the memory that belongs to it.
#pragma once

#include "dispatch/registry.hpp"

#include <tessera/plugin/error.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

namespace tessera::core {

/// One context of a plugin, shared by the handles, plans and buffers that use it. Once a device fault has killed it,
/// every call says so.
class Context {
 public:
  Context(Backend& backend, int device, void* native_stream, bool wrap_stream, int threads, bool high_priority = false);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Backend& backend() const { return backend_; }
  /// "cpu-v4", or the name alone where there is no variant.
  const std::string& name() const { return name_; }
  const tessera_backend& table() const { return table_; }
  int device() const { return device_; }
  /// As it was asked for; 0: the backend's own default.
  int threads() const { return threads_; }
  bool on_host() const { return (table_.flags & TESSERA_BACKEND_ON_HOST) != 0; }
  tessera_backend_context* handle() const { return handle_; }

  /// Calls a function of the plugin's table, with an error as last argument, and throws what it reports.
  template <class Function, class... Arguments>
  void call(Function function, Arguments... arguments) {
    if (dead()) throw_dead();
    std::array<char, 1024> message;
    message[0] = '\0';
    tessera_error error{sizeof(tessera_error), TESSERA_OK, 0, message.data(), message.size()};
    const tessera_status status = function(arguments..., &error);
    if (status != TESSERA_OK) fail(status, error, message.data());
  }

  /// Whether a device fault has killed it.
  bool dead() const { return dead_.load(std::memory_order_acquire); }
  void synchronize() { call(table_.synchronize, handle_); }
  /// What is queued from now on begins when what is queued on `earlier` by now has ended.
  void wait_for(Context& earlier);
  /// Waits for what is queued, then times what `work` queues: by the device's clock, where the backend has one.
  template <class Work>
  double seconds_of(Work&& work) {
    synchronize();
    const auto start = optional(&tessera_backend::timer_start);
    const auto stop = optional(&tessera_backend::timer_stop);
    if (start != nullptr && stop != nullptr) {
      double seconds = 0.0;
      call(start, handle_);
      work();
      call(stop, handle_, &seconds);
      return seconds;
    }
    const auto begin = std::chrono::steady_clock::now();
    work();
    synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  /// Waits, before something goes away whose work may be queued; a failure surfaces elsewhere.
  void settle() noexcept;
  void* native_stream();
  /// An entry of the table that may be missing: null.
  template <class Function>
  Function optional(Function tessera_backend::*entry) const {
    return optional_entry(table_, entry);
  }

 private:
  [[noreturn]] void fail(tessera_status status, const tessera_error& error, const char* message);
  [[noreturn]] void throw_dead();

  Backend& backend_;
  const tessera_backend& table_;
  std::string name_;
  int device_, threads_;
  tessera_backend_context* handle_ = nullptr;
  std::atomic<bool> dead_{false};
  std::mutex death_mutex_;
  std::string cause_of_death_;
};

/// Where plans that were made without a context get theirs from.
class ContextSource {
 public:
  virtual ~ContextSource() = default;
  virtual std::shared_ptr<Context> context(Backend& backend, int device, int threads) = 0;
};

/// Memory of a context's device.
class DeviceMemory {
 public:
  DeviceMemory(std::shared_ptr<Context> context, std::int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  Context& context() const { return *context_; }
  /// Copies [offset, offset + bytes) from or to host memory; throws invalid_argument outside the memory.
  void upload(std::int64_t offset, const void* source, std::int64_t bytes);
  void download(std::int64_t offset, void* target, std::int64_t bytes) const;
  /// Fills the memory with copies of its first `block` bytes.
  void repeat(std::int64_t block);

 private:
  void check(std::int64_t offset, const void* host, std::int64_t bytes) const;
  std::shared_ptr<Context> context_;
  std::int64_t bytes_;
  void* data_ = nullptr;
};

}  // namespace tessera::core
