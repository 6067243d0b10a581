// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The floating-point mode of a thread: how results are rounded, whether subnormal numbers are zeros, and which
/// exceptions are signals. Programs set it (fesetround, _MM_SET_FLUSH_ZERO_MODE, feenableexcept, a link with
/// -ffast-math), a thread is born with its creator's, and OpenMP's threads keep theirs. So that bits depend neither on
/// the program nor on which thread computes what, all work is done in the default mode.
#pragma once

#include <cstdint>

namespace tessera::plugin {

/// The calling thread's control word: MXCSR on x86-64, FPCR on aarch64, 0 where there is none.
inline std::uint64_t control_word();
/// Sets it.
inline void set_control_word(std::uint64_t word);

#if defined(__x86_64__)
/// All exceptions are masked, the rest is 0. Nothing here computes by the x87.
inline constexpr std::uint64_t kDefaultMode = 0x1f80;
inline constexpr std::uint64_t kModeBits = 0xffc0;
inline std::uint64_t control_word() { return __builtin_ia32_stmxcsr(); }
inline void set_control_word(std::uint64_t word) { __builtin_ia32_ldmxcsr(std::uint32_t(word)); }
#else
/// The control word that all work is done under.
inline constexpr std::uint64_t kDefaultMode = 0;
/// What of the control word is the mode; the rest of MXCSR are flags of exceptions.
inline constexpr std::uint64_t kModeBits = ~std::uint64_t{0};
#if defined(__aarch64__)
inline std::uint64_t control_word() {
  std::uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
inline void set_control_word(std::uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
inline std::uint64_t control_word() { return 0; }
inline void set_control_word(std::uint64_t) {}
#endif
#endif

/// Whether the calling thread is in the default mode.
inline bool in_default_mode() { return (control_word() & kModeBits) == kDefaultMode; }

/// The calling thread computes in the default mode while this lives. Then its own comes back, and where that is another
/// one also the flags of exceptions as they were. Compilers may move arithmetic past it: what is to be in the mode is
/// behind a call that is not inlined.
class DefaultMode {
 public:
  DefaultMode() : before_(control_word()) {
    if (is_other()) set_control_word(kDefaultMode);
  }
  ~DefaultMode() {
    if (is_other()) set_control_word(before_);
  }
  DefaultMode(const DefaultMode&) = delete;
  DefaultMode& operator=(const DefaultMode&) = delete;

 private:
  bool is_other() const { return __builtin_expect((before_ & kModeBits) != kDefaultMode, 0); }
  std::uint64_t before_;
};

}  // namespace tessera::plugin
