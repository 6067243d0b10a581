// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Context: a backend, one of its devices and a stream.
#pragma once

#include <tessera/error.hpp>

#include <memory>
#include <optional>
#include <string>

namespace tessera {

struct ContextOptions {
  /// A stream of the backend's own kind (a cudaStream_t) that the caller owns and keeps alive as long as the
  /// context, its plans and buffers. None: the context makes a stream.
  std::optional<void*> native_stream;
  /// CPU threads; 0: TESSERA_NUM_THREADS, else OMP_NUM_THREADS, else all.
  int threads = 0;
};

/// Where work runs. Move-only; plans and buffers keep what they need of it alive.
/// Contexts may be made and used by any thread.
class Context {
 public:
  /// The environment's choice: TESSERA_BACKEND, else the backend with the best score here.
  Context() : Context(ContextOptions{}, nullptr) {}
  /// `backend`: "name", "name:device" or "auto". Never falls back: throws backend_unavailable with the reason.
  explicit Context(const std::string& backend, const ContextOptions& options = {})
      : Context(options, backend.c_str()) {}
  explicit Context(const ContextOptions& options) : Context(options, nullptr) {}

  /// Waits for all queued work; failures of queued work are thrown here.
  void synchronize() { detail::call(tessera_context_synchronize, get()); }
  std::string backend() const { return tessera_context_backend(get()); }
  int device() const { return tessera_context_device(get()); }
  /// The stream work is queued on (cudaStream_t for "cuda"). Throws unsupported where the backend has none.
  void* native_stream() {
    void* stream = nullptr;
    detail::call(tessera_context_native_stream, get(), &stream);
    return stream;
  }
  tessera_context* get() const { return handle_.get(); }

 private:
  Context(const ContextOptions& options, const char* backend) {
    const tessera_context_options c{sizeof c, backend, options.native_stream.value_or(nullptr),
                                    options.native_stream.has_value(), options.threads};
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
