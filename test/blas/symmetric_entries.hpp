// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every name of ssyrk and dsyrk that libtessera_blas defines, called in one way.
#pragma once

#include "entries.hpp"

namespace tessera::test {

/// C <- alpha op(A) op(A)^T + beta C, of a triangle.
template <class T>
struct SymmetricCall {
  int layout = kColumnMajor;
  char uplo = 'L', trans = 'N';
  std::int64_t n = 1, k = 1;
  T alpha = 1;
  const T* a = nullptr;
  std::int64_t lda = 1;
  T beta = 0;
  T* c = nullptr;
  std::int64_t ldc = 1;
};

template <class T>
struct SymmetricEntry {
  std::string name, routine;  ///< what xerbla is told
  bool c_interface = false, wide = false;

  void operator()(const SymmetricCall<T>& call) const { wide ? with<std::int64_t>(call) : with<std::int32_t>(call); }

 private:
  template <class Int>
  void with(const SymmetricCall<T>& s) const {
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    if (found == nullptr) throw std::runtime_error("there is no " + name);
    const Int n = Int(s.n), k = Int(s.k), lda = Int(s.lda), ldc = Int(s.ldc);
    using InC = void (*)(int, int, int, Int, Int, T, const T*, Int, T, T*, Int);
    using InFortran = void (*)(const char*, const char*, const Int*, const Int*, const T*, const T*, const Int*,
                               const T*, T*, const Int*, std::size_t, std::size_t);
    const int uplo = s.uplo == 'U' || s.uplo == 'u' ? 121 : s.uplo == 'L' || s.uplo == 'l' ? 122 : s.uplo;
    if (c_interface)
      reinterpret_cast<InC>(found)(s.layout, uplo, number_of(s.trans), n, k, s.alpha, s.a, lda, s.beta, s.c, ldc);
    else
      reinterpret_cast<InFortran>(found)(&s.uplo, &s.trans, &n, &k, &s.alpha, s.a, &lda, &s.beta, s.c, &ldc, 1, 1);
  }
};

template <class T>
std::vector<SymmetricEntry<T>> symmetric_entries(char letter) {
  std::vector<SymmetricEntry<T>> list;
  const std::string name = letter + std::string("syrk"), upper = char(letter - 'a' + 'A') + std::string("SYRK ");
  for (const char* prefix : {"", "scipy_"})
    for (const char* suffix : {"_", "_64_"})
      list.push_back({prefix + name + suffix, upper, false, suffix == std::string("_64_")});
  for (const char* suffix : {"", "_64", "64_"})
    list.push_back({"cblas_" + name + suffix, "cblas_" + name, true, *suffix != '\0'});
  for (const char* suffix : {"", "64_"})
    list.push_back({"scipy_cblas_" + name + suffix, "cblas_" + name, true, *suffix != '\0'});
  return list;
}

}  // namespace tessera::test
