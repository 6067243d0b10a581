// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Context: a backend, one of its devices and a stream.
#pragma once

#include <tessera/error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace tessera {

/// How a context is made.
struct ContextOptions {
  /// A stream of the backend's own kind (a cudaStream_t) that the caller owns and keeps alive as long as the
  /// context, its plans and buffers. None: the context makes a stream.
  std::optional<void*> native_stream = {};
  /// CPU threads; 0: TESSERA_NUM_THREADS, else OMP_NUM_THREADS, else as many as the affinity mask
  /// and the control groups let the process use.
  int threads = 0;
  /// Work on the stream that the context makes goes before that on others, where the device has priorities.
  bool high_priority = false;
};

/// Where work runs: a backend, one of its devices and a stream. Move-only; plans and buffers keep what they need of it
/// alive. Contexts may be made and used by any thread.
class Context {
 public:
  /// The environment's choice: TESSERA_BACKEND, else the backend with the best score here.
  Context() : Context(ContextOptions{}, nullptr) {}
  /// `backend`: "name", "name:device" or "auto". Never falls back: throws backend_unavailable with the reason.
  explicit Context(const std::string& backend, const ContextOptions& options = {})
      : Context(options, backend.c_str()) {}
  explicit Context(const char* backend, const ContextOptions& options = {}) : Context(options, present(backend)) {}
  explicit Context(const ContextOptions& options) : Context(options, nullptr) {}
  /// A device's number alone says nothing of the backend: Context("cuda:0").
  explicit Context(int device, const ContextOptions& options = {}) = delete;
  explicit Context(std::nullptr_t, const ContextOptions& options = {}) = delete;

  /// Waits for all queued work; failures of queued work are thrown here.
  void synchronize() { detail::call(tessera_context_synchronize, get()); }
  /// What is queued from now on begins when what is queued on `earlier` by now has ended. Returns at once where the two
  /// are of one backend that can, else when that is so.
  void wait_for(Context& earlier) { detail::call(tessera_context_wait_for, get(), earlier.get()); }
  std::string backend() const { return tessera_context_backend(alive()); }
  int device() const { return tessera_context_device(alive()); }
  /// The stream work is queued on (cudaStream_t for "cuda"). Throws unsupported where the backend has none.
  void* native_stream() {
    void* stream = nullptr;
    detail::call(tessera_context_native_stream, get(), &stream);
    return stream;
  }
  /// Null where this was moved from; every other use of such a context throws invalid_argument.
  tessera_context* get() const { return handle_.get(); }

  /// The same; throws there.
  tessera_context* alive() const {
    if (handle_ == nullptr)
      throw Error(ErrorCode::invalid_argument, "context: it was moved from; use the object that it was moved to");
    return handle_.get();
  }

 private:
  static const char* present(const char* backend) {
    if (backend == nullptr)
      throw Error(ErrorCode::invalid_argument, "backend = null: must be a name; Context() is the environment's choice");
    return backend;
  }
  Context(const ContextOptions& options, const char* backend) {
    const tessera_context_options c{sizeof c,
                                    backend,
                                    options.native_stream.value_or(nullptr),
                                    options.native_stream.has_value(),
                                    options.threads,
                                    options.high_priority};
    tessera_context* made = nullptr;
    detail::call(tessera_context_create, &c, &made);
    handle_.reset(made);
  }

  struct Destroy {
    void operator()(tessera_context* context) const { tessera_context_destroy(context); }
  };
  std::unique_ptr<tessera_context, Destroy> handle_;
};

}  // namespace tessera
