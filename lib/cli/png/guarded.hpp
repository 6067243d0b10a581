// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// libpng reports errors by longjmp(), which no destructor may be in the way of.
#pragma once

#include <cstdio>
#include <new>

#include <png.h>

namespace tessera::png {

/// What an error leaves behind.
struct Failure {
  char message[200] = "";
  bool out_of_memory = false;
};

/// For png_create_*_struct, with a Failure as the pointer that both take.
[[noreturn]] inline void on_error(png_structp png, png_const_charp message) {
  std::snprintf(static_cast<Failure*>(png_get_error_ptr(png))->message, sizeof Failure::message, "%s", message);
  png_longjmp(png, 1);
}
inline void on_warning(png_structp, png_const_charp) {}
inline png_voidp take_memory(png_structp png, png_alloc_size_t bytes) {
  void* const memory = ::operator new(bytes, std::nothrow);
  if (memory == nullptr) static_cast<Failure*>(png_get_mem_ptr(png))->out_of_memory = true;
  return memory;
}
inline void give_memory(png_structp, png_voidp memory) { ::operator delete(memory); }

/// Whether `body`, which calls libpng and has nothing to destroy, came to its end.
template <class Body>
bool guarded(png_structp png, Body&& body) {
  if (setjmp(png_jmpbuf(png))) return false;
  body();
  return true;
}

}  // namespace tessera::png
