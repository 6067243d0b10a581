// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Floating-point modes that a program may have set before it calls the library.
#pragma once

#include <cfenv>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera::test {

struct FloatingMode {
  const char* name;
  void (*set)();  ///< of the calling thread
};

inline const std::vector<FloatingMode>& floating_modes() {
  static const std::vector<FloatingMode> modes {
    {"rounding upwards", [] { std::fesetround(FE_UPWARD); }},
        {"rounding downwards", [] { std::fesetround(FE_DOWNWARD); }},
        {"rounding towards zero", [] { std::fesetround(FE_TOWARDZERO); }},
#if defined(__x86_64__)
        {"subnormal numbers are zeros", [] { _mm_setcsr(_mm_getcsr() | 0x8040); }},  // FTZ, DAZ
#endif
        {"invalid operations are signals", [] { feenableexcept(FE_INVALID); }},
  };
  return modes;
}

/// What the calling thread's arithmetic follows, without flags of exceptions.
inline std::uint64_t floating_mode() {
#if defined(__x86_64__)
  return _mm_getcsr() & 0xffc0;
#else
  return std::uint64_t(std::fegetround()) << 32 | std::uint64_t(fegetexcept());
#endif
}

/// What the calling thread had comes back when this goes.
class KeptMode {
 public:
  KeptMode() { std::fegetenv(&kept_); }
  ~KeptMode() { std::fesetenv(&kept_); }
  KeptMode(const KeptMode&) = delete;
  KeptMode& operator=(const KeptMode&) = delete;

 private:
  std::fenv_t kept_;
};

/// Throws where a call has left the calling thread another mode than it had.
class UntouchedMode {
 public:
  void check() const {
    if (floating_mode() != before_ || std::fegetround() != rounding_ || fegetexcept() != signals_)
      throw std::runtime_error("a call has changed its caller's floating-point mode");
  }

 private:
  std::uint64_t before_ = floating_mode();
  int rounding_ = std::fegetround(), signals_ = fegetexcept();  // of the x87, too
};

/// body() in that mode, in the caller's for null. Nothing of its own may be computed in it: arithmetic of a program
/// follows its mode.
template <class Body>
decltype(auto) in_mode(const FloatingMode* mode, Body&& body) {
  const KeptMode kept;
  if (mode != nullptr) mode->set();
  struct Check {
    UntouchedMode untouched;
    ~Check() noexcept(false) {
      if (std::uncaught_exceptions() == 0) untouched.check();
    }
  } const check;
  return body();
}

}  // namespace tessera::test
