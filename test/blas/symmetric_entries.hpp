// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every name of syrk and herk that libtessera_blas defines, called in one way.
#pragma once

#include "entries.hpp"

namespace tessera::test {

/// C <- alpha op(A) op(A)^T + beta C, of a triangle; of herk by the conjugate transpose, with real alpha and beta.
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
  bool c_interface = false, wide = false, hermitian = false;

  /// Complex matrices have either transposes or conjugate ones.
  bool takes(char trans) const {
    const bool conjugate = trans == 'C' || trans == 'c', plain = trans == 'T' || trans == 't';
    return !kComplex<T> || !(hermitian ? plain : conjugate);
  }
  void operator()(const SymmetricCall<T>& call) const { wide ? with<std::int64_t>(call) : with<std::int32_t>(call); }

 private:
  template <class Int>
  void with(const SymmetricCall<T>& s) const {
    void* const found = dlsym(RTLD_DEFAULT, name.c_str());
    if (found == nullptr) throw std::runtime_error("there is no " + name);
    const Int n = Int(s.n), k = Int(s.k), lda = Int(s.lda), ldc = Int(s.ldc);
    using S = decltype(in_c_interface(s.alpha));
    using InC = void (*)(int, int, int, Int, Int, S, const T*, Int, S, T*, Int);
    using InFortran = void (*)(const char*, const char*, const Int*, const Int*, const T*, const T*, const Int*,
                               const T*, T*, const Int*, std::size_t, std::size_t);
    const int uplo = s.uplo == 'U' || s.uplo == 'u' ? 121 : s.uplo == 'L' || s.uplo == 'l' ? 122 : s.uplo;
    if (c_interface && hermitian)
      in_c_hermitian<Int>(found, uplo, s);
    else if (c_interface)
      reinterpret_cast<InC>(found)(s.layout, uplo, number_of(s.trans), n, k, in_c_interface(s.alpha), s.a, lda,
                                   in_c_interface(s.beta), s.c, ldc);
    else  // herk reads the first parts of alpha and beta
      reinterpret_cast<InFortran>(found)(&s.uplo, &s.trans, &n, &k, &s.alpha, s.a, &lda, &s.beta, s.c, &ldc, 1, 1);
  }
  template <class Int>
  static void in_c_hermitian(void* found, int uplo, const SymmetricCall<T>& s) {
    using R = decltype(std::real(s.alpha));
    using Function = void (*)(int, int, int, Int, Int, R, const T*, Int, R, T*, Int);
    reinterpret_cast<Function>(found)(s.layout, uplo, number_of(s.trans), Int(s.n), Int(s.k), std::real(s.alpha), s.a,
                                      Int(s.lda), std::real(s.beta), s.c, Int(s.ldc));
  }
};

template <class T>
std::vector<SymmetricEntry<T>> symmetric_entries(char letter, bool hermitian = false) {
  std::vector<SymmetricEntry<T>> list;
  const std::string name = letter + std::string(hermitian ? "herk" : "syrk");
  const std::string upper = char(letter - 'a' + 'A') + std::string(hermitian ? "HERK " : "SYRK ");
  for (const char* prefix : {"", "scipy_"})
    for (const char* suffix : {"_", "_64_"})
      list.push_back({prefix + name + suffix, upper, false, suffix == std::string("_64_")});
  for (const char* suffix : {"", "_64", "64_"})
    list.push_back({"cblas_" + name + suffix, "cblas_" + name, true, *suffix != '\0'});
  for (const char* suffix : {"", "64_"})
    list.push_back({"scipy_cblas_" + name + suffix, "cblas_" + name, true, *suffix != '\0'});
  for (SymmetricEntry<T>& entry : list) entry.hermitian = hermitian;
  if (kComplex<T> && !hermitian)
    for (const SymmetricEntry<T>& entry : symmetric_entries<T>(letter, true)) list.push_back(entry);
  return list;
}

}  // namespace tessera::test
