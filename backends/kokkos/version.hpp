// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What differs between the versions of Kokkos from 3.4 to 5: all of it is here.
#pragma once

#include <Kokkos_Core.hpp>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <mutex>

namespace tessera::kokkos {

inline constexpr int kFirstDevice = 0;  ///< the one device that the plugin uses

/// OpenMP's number of threads, which Kokkos sets, goes back to what the caller has.
struct CallersThreads {
#if defined(_OPENMP)
  int before = omp_get_max_threads();
  ~CallersThreads() { omp_set_num_threads(before); }
#endif
};

/// Kokkos' own settings from the environment apply; it prints no warnings. `threads` is read by host flavours.
inline void initialize_kokkos([[maybe_unused]] int threads) {
  [[maybe_unused]] const CallersThreads callers{};
#if defined(_OPENMP) && !defined(KOKKOS_ENABLE_CUDA)
  omp_set_num_threads(threads);  // old versions open a region before they set it
#endif
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
#if defined(KOKKOS_ENABLE_CUDA)
  settings.set_device_id(kFirstDevice);
#else
  settings.set_num_threads(threads);
#endif
  Kokkos::initialize(settings);
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
#if defined(KOKKOS_ENABLE_CUDA)
  arguments.device_id = kFirstDevice;
#else
  arguments.num_threads = threads;
#endif
  Kokkos::initialize(arguments);
#endif
}

#if defined(KOKKOS_ENABLE_OPENMP) && !defined(KOKKOS_ENABLE_CUDA)

/// Threads of one pool, Kokkos' own bound.
inline constexpr int kMostThreads = 512;

#if KOKKOS_VERSION >= 40000

/// A pool for each context. While a Dispatch lives, no other thread uses the context's.
inline Kokkos::OpenMP make_openmp(int threads) { return Kokkos::OpenMP(threads); }
inline void remember_pool() {}

class Dispatch {
 public:
  explicit Dispatch(std::mutex& of_context) : lock_(of_context) {}

 private:
  std::lock_guard<std::mutex> lock_;
};

#else

/// There is one pool, as large as Kokkos was initialised, and only the thread that did so knows it. While a Dispatch
/// lives, its thread has taken that thread's place, and no other has.
inline Kokkos::OpenMP make_openmp(int) { return Kokkos::OpenMP(); }

inline auto& known_pool() {
  static decltype(+Kokkos::Impl::t_openmp_instance) pool = nullptr;
  return pool;
}
/// To be called by the thread that initialised Kokkos.
inline void remember_pool() { known_pool() = Kokkos::Impl::t_openmp_instance; }

class Dispatch {
 public:
  explicit Dispatch(std::mutex&) : lock_(process_mutex()), before_(Kokkos::Impl::t_openmp_instance) {
    Kokkos::Impl::t_openmp_instance = known_pool();
  }
  ~Dispatch() { Kokkos::Impl::t_openmp_instance = before_; }
  Dispatch(const Dispatch&) = delete;
  Dispatch& operator=(const Dispatch&) = delete;

 private:
  static std::mutex& process_mutex() {
    static auto* mutex = new std::mutex;  // never destroyed: plans may outlive static objects
    return *mutex;
  }

  std::lock_guard<std::mutex> lock_;
  decltype(+Kokkos::Impl::t_openmp_instance) before_;
};

#endif
#else

/// Work of a device is queued from any thread.
inline void remember_pool() {}

class Dispatch {
 public:
  explicit Dispatch(std::mutex&) {}
};

#endif

}  // namespace tessera::kokkos
