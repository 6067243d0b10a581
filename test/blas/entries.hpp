// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Every name that libtessera_blas defines, called in one way. The names are looked up as a program's own references
/// would be.
#pragma once

#include <complex>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

namespace tessera::test {

inline constexpr int kRowMajor = 101, kColumnMajor = 102;

template <class T>
inline constexpr bool kComplex = !std::is_floating_point_v<T>;

/// Alpha and beta as C's interface takes them: complex ones by pointers.
template <class T>
auto in_c_interface(const T& scalar) {
  if constexpr (kComplex<T>)
    return static_cast<const void*>(&scalar);
  else
    return scalar;
}

/// Products of one shape: of the single form the first alone; of the strided form the first and the strides.
template <class T>
struct Group {
  char trans_a = 'N', trans_b = 'N';
  std::int64_t m = 1, n = 1, k = 1;
  T alpha = 1, beta = 0;
  std::vector<const T*> a, b;
  std::vector<T*> c;
  std::int64_t lda = 1, ldb = 1, ldc = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  std::int64_t size = 1;
};

template <class T>
struct Call {
  int layout = kColumnMajor;
  std::vector<Group<T>> groups;
  std::int64_t count = 1;  ///< of the groups, as it is passed
};

enum class Form { single, grouped, strided };

/// The number of a letter in C's interface.
inline int number_of(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return 111;
    case 'T':
    case 't':
      return 112;
    case 'C':
    case 'c':
      return 113;
    default:
      return letter;
  }
}

template <class T>
struct Entry {
  std::string name;
  std::string routine;  ///< what xerbla is told
  Form form = Form::single;
  bool c_interface = false, wide = false;
  void* library = RTLD_DEFAULT;  ///< where the name is looked up

  void operator()(const Call<T>& call) const { wide ? with<std::int64_t>(call) : with<std::int32_t>(call); }

 private:
  template <class Function>
  Function as() const {
    void* const found = dlsym(library, name.c_str());
    if (found == nullptr) throw std::runtime_error("there is no " + name);
    return reinterpret_cast<Function>(found);
  }
  template <class Int>
  void with(const Call<T>& call) const {
    if (form == Form::grouped) return grouped<Int>(call);
    const Group<T>& g = call.groups.at(0);
    c_interface ? in_c<Int>(call.layout, g) : in_fortran<Int>(g);
  }

  template <class Int>
  void in_c(int layout, const Group<T>& g) const {
    const int a = number_of(g.trans_a), b = number_of(g.trans_b);
    const Int m = Int(g.m), n = Int(g.n), k = Int(g.k), lda = Int(g.lda), ldb = Int(g.ldb), ldc = Int(g.ldc);
    using S = decltype(in_c_interface(g.alpha));
    using Single = void (*)(int, int, int, Int, Int, Int, S, const T*, Int, const T*, Int, S, T*, Int);
    using Strided =
        void (*)(int, int, int, Int, Int, Int, S, const T*, Int, Int, const T*, Int, Int, S, T*, Int, Int, Int);
    const S alpha = in_c_interface(g.alpha), beta = in_c_interface(g.beta);
    if (form == Form::single)
      as<Single>()(layout, a, b, m, n, k, alpha, g.a[0], lda, g.b[0], ldb, beta, g.c[0], ldc);
    else
      as<Strided>()(layout, a, b, m, n, k, alpha, g.a[0], lda, Int(g.stride_a), g.b[0], ldb, Int(g.stride_b), beta,
                    g.c[0], ldc, Int(g.stride_c), Int(g.size));
  }

  template <class Int>
  void in_fortran(const Group<T>& g) const {
    const Int m = Int(g.m), n = Int(g.n), k = Int(g.k), lda = Int(g.lda), ldb = Int(g.ldb), ldc = Int(g.ldc);
    const Int stride_a = Int(g.stride_a), stride_b = Int(g.stride_b), stride_c = Int(g.stride_c), size = Int(g.size);
    using I = const Int*;
    using R = const T*;
    using Letter = const char*;
    using Length = std::size_t;
    using Single = void (*)(Letter, Letter, I, I, I, R, R, I, R, I, R, T*, I, Length, Length);
    using Strided = void (*)(Letter, Letter, I, I, I, R, R, I, I, R, I, I, R, T*, I, I, I, Length, Length);
    if (form == Form::single)
      as<Single>()(&g.trans_a, &g.trans_b, &m, &n, &k, &g.alpha, g.a[0], &lda, g.b[0], &ldb, &g.beta, g.c[0], &ldc, 1,
                   1);
    else
      as<Strided>()(&g.trans_a, &g.trans_b, &m, &n, &k, &g.alpha, g.a[0], &lda, &stride_a, g.b[0], &ldb, &stride_b,
                    &g.beta, g.c[0], &ldc, &stride_c, &size, 1, 1);
  }

  template <class Int>
  void grouped(const Call<T>& call) const {
    std::vector<char> letters_a, letters_b;
    std::vector<int> numbers_a, numbers_b;
    std::vector<Int> m, n, k, lda, ldb, ldc, size;
    std::vector<T> alpha, beta;
    std::vector<const T*> a, b;
    std::vector<T*> c;
    for (const Group<T>& g : call.groups) {
      letters_a.push_back(g.trans_a), letters_b.push_back(g.trans_b);
      numbers_a.push_back(number_of(g.trans_a)), numbers_b.push_back(number_of(g.trans_b));
      m.push_back(Int(g.m)), n.push_back(Int(g.n)), k.push_back(Int(g.k));
      lda.push_back(Int(g.lda)), ldb.push_back(Int(g.ldb)), ldc.push_back(Int(g.ldc));
      alpha.push_back(g.alpha), beta.push_back(g.beta), size.push_back(Int(g.size));
      a.insert(a.end(), g.a.begin(), g.a.end()), b.insert(b.end(), g.b.begin(), g.b.end());
      c.insert(c.end(), g.c.begin(), g.c.end());
    }
    const Int count = Int(call.count);
    using I = const Int*;
    using R = const T*;
    using InC = void (*)(int, const int*, const int*, I, I, I, R, const R*, I, const R*, I, R, T**, I, Int, I);
    using InFortran = void (*)(const char*, const char*, I, I, I, R, const R*, I, const R*, I, R, T**, I, I, I,
                               std::size_t, std::size_t);
    if (c_interface)
      as<InC>()(call.layout, numbers_a.data(), numbers_b.data(), m.data(), n.data(), k.data(), alpha.data(), a.data(),
                lda.data(), b.data(), ldb.data(), beta.data(), c.data(), ldc.data(), count, size.data());
    else
      as<InFortran>()(letters_a.data(), letters_b.data(), m.data(), n.data(), k.data(), alpha.data(), a.data(),
                      lda.data(), b.data(), ldb.data(), beta.data(), c.data(), ldc.data(), &count, size.data(), 1, 1);
  }
};

/// All entry points of a type by its letter; complex ones have no batches.
template <class T>
std::vector<Entry<T>> entries(char letter) {
  std::vector<Entry<T>> list;
  std::string gemm = "gemm";
  const auto add = [&](const std::string& prefix, bool c_interface, const std::string& suffix, Form form) {
    const std::string ending = form == Form::single ? "" : form == Form::grouped ? "_batch" : "_batch_strided";
    const bool wide = suffix.find("64") != std::string::npos;
    const std::string upper = std::string(1, char(letter - 'a' + 'A')) + (gemm == "gemm" ? "GEMM" : "GEMM3M");
    if (c_interface) {
      const std::string routine = std::string("cblas_") + letter + gemm + ending;
      list.push_back({prefix + routine + suffix, routine, form, true, wide});
    } else {
      const std::string routine = form == Form::single    ? upper + " "
                                  : form == Form::grouped ? upper + "_BATCH"
                                                          : upper + "_BATCH_STRIDED";
      list.push_back({prefix + letter + gemm + ending + suffix, routine, form, false, wide});
    }
  };
  const auto add_all = [&](Form form) {
    for (const char* suffix : {"_", "_64_"}) add("", false, suffix, form);
    for (const char* suffix : {"", "_64", "64_"}) add("", true, suffix, form);
    for (const char* suffix : {"", "64_"}) add("scipy_", true, suffix, form);
    if (form == Form::single)
      for (const char* suffix : {"_", "_64_"}) add("scipy_", false, suffix, form);
  };
  add_all(Form::single);
  if (kComplex<T>) {
    gemm = "gemm3m";
    add_all(Form::single);
  } else {
    add_all(Form::grouped), add_all(Form::strided);
  }
  return list;
}

/// The letter of a type in BLAS's names.
template <class T>
inline constexpr char kLetter = kComplex<T> ? (sizeof(T) == sizeof(std::complex<float>) ? 'c' : 'z')
                                            : (sizeof(T) == sizeof(float) ? 's' : 'd');

}  // namespace tessera::test
