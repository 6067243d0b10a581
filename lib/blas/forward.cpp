// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "forward.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace tessera::blas {
namespace {

/// syrk or herk, with the lengths of two strings, as below. herk reads the real parts of alpha and beta, which come
/// first.
template <class T>
using NextSyrk = void (*)(const char*, const char*, const std::int64_t*, const std::int64_t*, const T*, const T*,
                          const std::int64_t*, const T*, T*, const std::int64_t*, std::size_t, std::size_t);

/// gemm, with the lengths of the two strings that Fortran passes behind the arguments. Integers are passed
/// as 64 bits: a BLAS with those reads them, and one of 32 bits reads the lower half, which stands first.
template <class T>
using NextGemm = void (*)(const char*, const char*, const std::int64_t*, const std::int64_t*, const std::int64_t*,
                          const T*, const T*, const std::int64_t*, const T*, const std::int64_t*, const T*, T*,
                          const std::int64_t*, std::size_t, std::size_t);
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

/// The names of a product, those that take sizes of 64 bits last.
template <class T>
struct Names;
template <>
struct Names<float> {
  static constexpr const char* kAll[] = {"sgemm_", "scipy_sgemm_", "sgemm_64_", "scipy_sgemm_64_"};
  static constexpr const char* kSymmetric[] = {"ssyrk_", "scipy_ssyrk_", "ssyrk_64_", "scipy_ssyrk_64_"};
};
template <>
struct Names<double> {
  static constexpr const char* kAll[] = {"dgemm_", "scipy_dgemm_", "dgemm_64_", "scipy_dgemm_64_"};
  static constexpr const char* kSymmetric[] = {"dsyrk_", "scipy_dsyrk_", "dsyrk_64_", "scipy_dsyrk_64_"};
};
template <>
struct Names<std::complex<float>> {
  static constexpr const char* kAll[] = {"cgemm_", "scipy_cgemm_", "cgemm_64_", "scipy_cgemm_64_"};
  static constexpr const char* kSymmetric[] = {"csyrk_", "scipy_csyrk_", "csyrk_64_", "scipy_csyrk_64_"};
  static constexpr const char* kHermitian[] = {"cherk_", "scipy_cherk_", "cherk_64_", "scipy_cherk_64_"};
};
template <>
struct Names<std::complex<double>> {
  static constexpr const char* kAll[] = {"zgemm_", "scipy_zgemm_", "zgemm_64_", "scipy_zgemm_64_"};
  static constexpr const char* kSymmetric[] = {"zsyrk_", "scipy_zsyrk_", "zsyrk_64_", "scipy_zsyrk_64_"};
  static constexpr const char* kHermitian[] = {"zherk_", "scipy_zherk_", "zherk_64_", "scipy_zherk_64_"};
};

/// Whether a function is of this library.
bool own(void* function) {
  Dl_info here{}, there{};
  return dladdr(reinterpret_cast<void*>(&own), &here) != 0 && dladdr(function, &there) != 0 &&
         here.dli_fbase == there.dli_fbase;
}

/// The first of the names that the libraries behind a handle have, beside this one.
void* find_in(void* handle, std::span<const char* const> names) {
  for (const char* const name : names)
    if (void* const found = dlsym(handle, name); found != nullptr && !own(found)) return found;
  return nullptr;
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (*info->dlpi_name != '\0') static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

/// Behind this library in the order of the dynamic linker, else in what was loaded for its caller alone, as Python
/// loads what NumPy needs. Nothing is loaded; a library that is found stays.
void* find(std::span<const char* const> names) {
  if (void* const next = find_in(RTLD_NEXT, names)) return next;
  for (const std::string& path : loaded_libraries())
    if (void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD))
      if (void* const found = find_in(handle, names)) return found;
  return nullptr;
}

template <class T>
std::span<const char* const> names_of(const Product<T>& p) {
  if (p.part == Part::all) return Names<T>::kAll;
  if constexpr (kComplex<T>)
    if (p.is_hermitian()) return Names<T>::kHermitian;
  return Names<T>::kSymmetric;
}

template <class T>
void* next_function(const Product<T>& p) {
  struct Found {
    std::atomic<void*> any{nullptr}, wide{nullptr};
  };
  static Found gemm, syrk, herk;
  Found& found = p.part == Part::all ? gemm : p.is_hermitian() ? herk : syrk;
  const std::int64_t largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  const bool large = largest > std::numeric_limits<std::int32_t>::max();
  std::atomic<void*>& known = large ? found.wide : found.any;
  try {
    if (known == nullptr) known = find(names_of(p).subspan(large ? 2 : 0));
  } catch (const std::bad_alloc&) {  // as if there were none
  }
  return known.load();
}

bool verbose() {
  static const bool said = [] {
    const char* const value = std::getenv("TESSERA_VERBOSE");
    return value != nullptr && *value != '\0' && *value != '0';
  }();
  return said;
}

const char* flag(bool transposed, bool conjugated) { return !transposed ? "N" : conjugated ? "C" : "T"; }

template <class T>
void say(const Product<T>& p, const char* what, const char* reason) {
  std::fprintf(stderr, "tessera: %s m=%lld n=%lld k=%lld %c%c: %s: %s\n", names_of(p)[0], static_cast<long long>(p.m),
               static_cast<long long>(p.n), static_cast<long long>(p.k), *flag(p.trans_a, p.conjugate_a),
               *flag(p.trans_b, p.conjugate_b), what, reason);
}

}  // namespace

template <class T>
void forward(const Product<T>& p, const char* reason, bool lost) noexcept {
  void* const next = lost ? nullptr : next_function(p);
  if (next == nullptr) {
    say(p, lost ? "failed midway, the program is aborted" : "no other BLAS is there, the program is aborted", reason);
    std::abort();
  }
  if (verbose()) say(p, "done by the next BLAS", reason);
  const char *const a = flag(p.trans_a, p.conjugate_a), *const b = flag(p.trans_b, p.conjugate_b);
  if (p.part == Part::all)
    reinterpret_cast<NextGemm<T>>(next)(a, b, &p.m, &p.n, &p.k, &p.alpha, p.a, &p.lda, p.b, &p.ldb, &p.beta, p.c,
                                        &p.ldc, 1, 1);
  else
    reinterpret_cast<NextSyrk<T>>(next)(p.part == Part::lower ? "L" : "U", a, &p.n, &p.k, &p.alpha, p.a, &p.lda,
                                        &p.beta, p.c, &p.ldc, 1, 1);
}

template void forward<float>(const Product<float>&, const char*, bool) noexcept;
template void forward<double>(const Product<double>&, const char*, bool) noexcept;
template void forward<std::complex<float>>(const Product<std::complex<float>>&, const char*, bool) noexcept;
template void forward<std::complex<double>>(const Product<std::complex<double>>&, const char*, bool) noexcept;

}  // namespace tessera::blas
