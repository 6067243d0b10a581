// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "forward.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace tessera::blas {
namespace {

/// sgemm_ or dgemm_, with the lengths of the two strings that Fortran passes behind the arguments. Integers are passed
/// as 64 bits: a BLAS with those reads them, and one of 32 bits reads the lower half, which stands first.
template <class T>
using NextGemm = void (*)(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                          const T*, const T*, const std::int64_t*, const T*, const std::int64_t*, const T*, T*,
                          const std::int64_t*, std::size_t, std::size_t);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

template <class T>
struct Names;
template <>
struct Names<float> {
  static constexpr const char *kUsual = "sgemm_", *kWide = "sgemm_64_";
};
template <>
struct Names<double> {
  static constexpr const char *kUsual = "dgemm_", *kWide = "dgemm_64_";
};

/// Looked up each time: libraries come and go, and this is no fast path.
template <class T>
NextGemm<T> next_gemm(const Product<T>& p) {
  const std::int64_t largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  const bool wide = largest > std::numeric_limits<std::int32_t>::max();
  void* found = wide ? nullptr : dlsym(RTLD_NEXT, Names<T>::kUsual);
  if (found == nullptr) found = dlsym(RTLD_NEXT, Names<T>::kWide);
  return reinterpret_cast<NextGemm<T>>(found);
}

bool verbose() {
  static const bool said = [] {
    const char* const value = std::getenv("TESSERA_VERBOSE");
    return value != nullptr && *value != '\0' && *value != '0';
  }();
  return said;
}

template <class T>
void say(const Product<T>& p, const char* what, const char* reason) {
  std::fprintf(stderr, "tessera: %s m=%lld n=%lld k=%lld %c%c: %s: %s\n", Names<T>::kUsual, static_cast<long long>(p.m),
               static_cast<long long>(p.n), static_cast<long long>(p.k), p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N',
               what, reason);
}

}  // namespace

template <class T>
void forward(const Product<T>& p, const char* reason, bool lost) noexcept {
  const NextGemm<T> next = lost ? nullptr : next_gemm(p);
  if (next == nullptr) {
    say(p, lost ? "failed midway, the program is aborted" : "no other BLAS is there, the program is aborted", reason);
    std::abort();
  }
  if (verbose()) say(p, "done by the next BLAS", reason);
  const char* const flags[] = {"N", "T"};
  next(flags[p.trans_a], flags[p.trans_b], &p.m, &p.n, &p.k, &p.alpha, p.a, &p.lda, p.b, &p.ldb, &p.beta, p.c, &p.ldc,
       1, 1);
}

template void forward<float>(const Product<float>&, const char*, bool) noexcept;
template void forward<double>(const Product<double>&, const char*, bool) noexcept;

}  // namespace tessera::blas
