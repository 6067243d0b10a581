// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

// A program's own, or that of its BLAS. Mentioned here, they are among a program's dynamic symbols where this library
// is linked to it. RowMajorStrg is netlib's: whether its cblas_xerbla has to undo the change of sides in a position.
extern "C" {
[[gnu::weak]] void xerbla_(const char* name, const std::int32_t* position, std::size_t length);
[[gnu::weak]] void xerbla_64_(const char* name, const std::int64_t* position, std::size_t length);
[[gnu::weak]] void cblas_xerbla(std::int32_t position, const char* name, const char* form, ...);
[[gnu::weak]] void cblas_xerbla_64(std::int64_t position, const char* name, const char* form, ...);
[[gnu::weak]] extern int RowMajorStrg;
}

namespace tessera::blas {
namespace {

template <class Int>
using Xerbla = void (*)(const char*, const Int*, std::size_t);
template <class Int>
using CblasXerbla = void (*)(Int, const char*, const char*, ...);

/// What was there when this library was loaded, else what came later.
template <class Function>
Function look_up(Function linked, const char* name) {
  return linked != nullptr ? linked : reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// Of the entry point's integers first. The other one is understood where integers are passed by value.
CblasXerbla<std::int32_t> cblas_xerbla_for(std::int32_t) {
  return look_up<CblasXerbla<std::int32_t>>(cblas_xerbla, "cblas_xerbla");
}
CblasXerbla<std::int64_t> cblas_xerbla_for(std::int64_t) {
  for (const char* name : {"cblas_xerbla64_", "cblas_xerbla"})
    if (const auto found = look_up<CblasXerbla<std::int64_t>>(cblas_xerbla_64, name)) return found;
  return nullptr;
}

Xerbla<std::int32_t> xerbla_for(std::int32_t) { return look_up<Xerbla<std::int32_t>>(xerbla_, "xerbla_"); }
/// xerbla_ reads the lower half of the integer, which stands first.
Xerbla<std::int64_t> xerbla_for(std::int64_t) {
  const auto wide = look_up<Xerbla<std::int64_t>>(xerbla_64_, "xerbla_64_");
  return wide != nullptr ? wide : reinterpret_cast<Xerbla<std::int64_t>>(xerbla_for(std::int32_t{}));
}

void forget_row_major() {
  if (&RowMajorStrg != nullptr) RowMajorStrg = 0;  // the positions are right as they are
}

}  // namespace

template <class Int>
void report(const Routine& routine, Argument bad) {
  const Int position = Int(routine.positions.of(bad)) + (routine.c_interface ? 1 : 0);
  if (routine.c_interface)
    if (const auto cblas = cblas_xerbla_for(Int{})) {
      forget_row_major();
      return cblas(position, routine.name, "");
    }
  if (const auto fortran = xerbla_for(Int{})) return fortran(routine.name, &position, std::strlen(routine.name));
  std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine.name, int(position));
}

template void report<std::int32_t>(const Routine&, Argument);
template void report<std::int64_t>(const Routine&, Argument);

}  // namespace tessera::blas
