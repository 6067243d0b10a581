// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A program without a BLAS: what is preloaded is its BLAS. program_test.cpp runs it.
///   program none           uses no BLAS
///   program product [FILE] a product through each entry point; prints the sum of what came out. FILE is loaded first,
///                          for the program alone
///   program overlap        dgemm_ into its own A
///   program symmetric      dsyrk_ of a column of 3 and 5, into its own A if there is a further argument
///   program bad_argument   dgemm_ and cblas_dgemm with a negative m

#include "symmetric_entries.hpp"

#include <iostream>
#include <string>

namespace {

using namespace tessera::test;

/// m x 2 by 2 x 2, twice for batches.
template <class T>
double product(const Entry<T>& entry, std::int64_t m) {
  const std::vector<T> a = {1, 2, 3, 4, 1, 2, 3, 4};
  std::vector<T> c(8, T(1));
  Group<T> g;
  g.trans_a = 'T';
  g.m = m, g.n = g.k = g.lda = g.ldb = g.ldc = 2;
  g.alpha = 3, g.beta = 4;
  g.stride_a = g.stride_b = g.stride_c = 4;
  g.size = entry.form == Form::single ? 1 : 2;
  for (std::int64_t i = 0; i < g.size; ++i)
    g.a.push_back(a.data() + 4 * i), g.b.push_back(a.data() + 4 * i), g.c.push_back(c.data() + 4 * i);
  entry({kColumnMajor, {g}, 1});
  double sum = 0;
  for (std::int64_t i = 0; i < 4 * g.size; ++i) sum += double(c[std::size_t(i)]);
  return sum / double(g.size);
}

template <class T>
double products() {
  double sum = 0;
  for (const Entry<T>& entry : entries<T>(kLetter<T>)) sum += product(entry, 2);
  return sum;
}

double overlap() {
  for (const Entry<double>& entry : entries<double>('d'))
    if (entry.name == "dgemm_") {
      const double b = 5;
      double a = 3;
      Group<double> g;
      g.a = {&a}, g.b = {&b}, g.c = {&a};
      entry({kColumnMajor, {g}, 1});
      return a;
    }
  return 0;
}

/// The triangle's sum.
double symmetric(bool overlaps) {
  std::vector<double> a = {3, 5}, c(4);
  for (const SymmetricEntry<double>& entry : symmetric_entries<double>('d')) {
    if (entry.name != "dsyrk_") continue;
    if (overlaps)
      entry({kColumnMajor, 'U', 'T', 1, 1, 1, a.data(), 1, 0, a.data(), 1});
    else
      entry({kColumnMajor, 'U', 'T', 2, 1, 1, a.data(), 1, 0, c.data(), 2});
  }
  return overlaps ? a[0] : c[0] + c[2] + c[3];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "none";
  if (argc > 2 && what != "symmetric" && dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) == nullptr) return 1;
  if (what == "product") std::cout << products<float>() + products<double>() << "\n";
  if (what == "symmetric") std::cout << symmetric(argc > 2) << "\n";
  if (what == "overlap") std::cout << overlap() << "\n";
  if (what == "bad_argument")
    for (const Entry<double>& entry : entries<double>('d'))
      if (entry.name == "dgemm_" || entry.name == "cblas_dgemm") std::cout << product(entry, -1) << "\n";
}
