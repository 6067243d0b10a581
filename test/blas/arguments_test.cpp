// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Bad arguments of every entry point: which position the program's own xerbla_ or cblas_xerbla is told, also of two
/// bad ones at once, and that nothing is computed.

#include "symmetric_entries.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <functional>

namespace {

/// The last call of a handler.
struct Told {
  int calls = 0;
  std::string handler, routine;
  std::int64_t position = 0;
};
Told g_told;

void tell(const char* handler, const std::string& routine, std::int64_t position) {
  g_told = {g_told.calls + 1, handler, routine, position};
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
int RowMajorStrg = 0;  // netlib's: a cblas_xerbla that sees it set changes the position

void xerbla_(const char* name, const std::int32_t* position, std::size_t length) {
  tell("xerbla_", {name, length}, *position);
}
void xerbla_64_(const char* name, const std::int64_t* position, std::size_t length) {
  tell("xerbla_64_", {name, length}, *position);
}
void cblas_xerbla(std::int32_t position, const char* name, const char*, ...) {
  tell(RowMajorStrg == 0 ? "cblas_xerbla" : "cblas_xerbla with RowMajorStrg", name, position);
}
void cblas_xerbla_64(std::int64_t position, const char* name, const char*, ...) {
  tell(RowMajorStrg == 0 ? "cblas_xerbla_64" : "cblas_xerbla_64 with RowMajorStrg", name, position);
}
}
#pragma GCC visibility pop

namespace {

using namespace tessera::test;

bool transposed(char letter) { return letter != 'N'; }

/// A way to spoil a call, and where the argument stands in a Fortran routine's list (0: C's layout, before it).
template <class T>
struct Fault {
  std::string argument;
  int position, strided_position;
  std::function<void(Call<T>&, Group<T>&)> spoil;
};

template <class T>
std::vector<Fault<T>> faults(const Entry<T>& entry) {
  using C = Call<T>;
  using G = Group<T>;
  std::vector<Fault<T>> list;
  if (entry.c_interface) list.push_back({"layout", 0, 0, [](C& c, G&) { c.layout = 100; }});
  if (entry.form == Form::grouped) list.push_back({"count", 14, 0, [](C& c, G&) { c.count = -1; }});
  list.push_back({"trans_a", 1, 1, [](C&, G& g) { g.trans_a = 'X'; }});
  list.push_back({"trans_b", 2, 2, [](C&, G& g) { g.trans_b = '/'; }});
  list.push_back({"m", 3, 3, [](C&, G& g) { g.m = -1; }});
  list.push_back({"n", 4, 4, [](C&, G& g) { g.n = -1; }});
  list.push_back({"k", 5, 5, [](C&, G& g) { g.k = -1; }});
  list.push_back({"lda", 8, 8, [](C&, G& g) { --g.lda; }});
  list.push_back({"ldb", 10, 11, [](C&, G& g) { --g.ldb; }});
  list.push_back({"ldc", 13, 15, [](C&, G& g) { --g.ldc; }});
  if (entry.form == Form::strided) list.push_back({"batch", 0, 17, [](C&, G& g) { g.size = -1; }});
  if (entry.form == Form::grouped) list.push_back({"group_size", 15, 0, [](C&, G& g) { g.size = -1; }});
  return list;
}

/// A call with nothing wrong, whose leading dimensions are the least that are allowed.
template <class T>
Call<T> sound(const Entry<T>& entry, bool row_major, char trans_a, char trans_b, std::vector<T>& memory) {
  Group<T> g;
  g.m = 3, g.n = 4, g.k = 5;
  g.trans_a = trans_a, g.trans_b = trans_b;
  g.lda = row_major == transposed(trans_a) ? g.m : g.k;
  g.ldb = row_major == transposed(trans_b) ? g.k : g.n;
  g.ldc = row_major ? g.n : g.m;
  g.a = {memory.data()}, g.b = {memory.data() + 20};
  Call<T> call{row_major ? kRowMajor : kColumnMajor, {}, 1};
  for (int i = 0; i < (entry.form == Form::grouped ? 2 : 1); ++i) {  // the last one will be spoiled
    g.c = {memory.data() + 40 + 12 * i};
    call.groups.push_back(g);
  }
  call.count = std::int64_t(call.groups.size());
  return call;
}

/// Row-major calls of netlib's C interface are calls with sides changed, and are checked in that order.
std::size_t rank_of(const std::string& argument, bool row_major) {
  const std::vector<std::string> columns = {"layout", "count", "trans_a", "trans_b", "m",     "n",
                                            "k",      "lda",   "ldb",     "ldc",     "batch", "group_size"};
  const std::vector<std::string> rows = {"layout", "count", "trans_a", "trans_b", "n",     "m",
                                         "k",      "ldb",   "lda",     "ldc",     "batch", "group_size"};
  const auto& order = row_major ? rows : columns;
  return std::size_t(std::find(order.begin(), order.end(), argument) - order.begin());
}

/// Which handler an entry point tells.
template <class Entry>
std::string handler_of(const Entry& entry) {
  if (entry.c_interface) return entry.wide ? "cblas_xerbla_64" : "cblas_xerbla";
  return entry.wide ? "xerbla_64_" : "xerbla_";
}

template <class T>
void check(const Entry<T>& entry, bool row_major, const Fault<T>& one, const Fault<T>& other,
           const std::string& flags) {
  std::vector<T> memory(64, T(1));
  Call<T> call = sound(entry, row_major, flags[0], flags[1], memory);
  one.spoil(call, call.groups.back());
  if (&one != &other) other.spoil(call, call.groups.back());
  const Fault<T>& first = rank_of(one.argument, row_major) <= rank_of(other.argument, row_major) ? one : other;
  const int position = (entry.form == Form::strided ? first.strided_position : first.position) + entry.c_interface;
  INFO(entry.name << (row_major ? ", row-major, " : ", column-major, ") << flags << ", bad " << one.argument << " and "
                  << other.argument);
  g_told = {};
  RowMajorStrg = row_major;
  entry(call);
  REQUIRE(g_told.calls == 1);
  REQUIRE(g_told.handler == handler_of(entry));
  REQUIRE(g_told.routine == entry.routine);
  REQUIRE(g_told.position == position);
  REQUIRE(memory == std::vector<T>(64, T(1)));
}

TEMPLATE_TEST_CASE("xerbla is told the position of the first bad argument", "[blas]", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const Entry<TestType>& entry : entries<TestType>(kLetter<TestType>)) {
    const auto list = faults(entry);
    for (const bool row_major : {false, true})
      for (const char* flags : {"NN", "NT", "CN", "TT"}) {
        if (row_major && !entry.c_interface) continue;
        for (const auto& one : list)
          for (const auto& other : list) check(entry, row_major, one, other, flags);
      }
  }
}

TEMPLATE_TEST_CASE("what is just right is no error", "[blas]", float, double, std::complex<float>,
                   std::complex<double>) {
  for (const Entry<TestType>& entry : entries<TestType>(kLetter<TestType>))
    for (const bool row_major : {false, true})
      for (const char* flags : {"NN", "NT", "CN", "TT"}) {
        if (row_major && !entry.c_interface) continue;
        std::vector<TestType> memory(64, TestType(1));
        g_told = {};
        entry(sound(entry, row_major, flags[0], flags[1], memory));
        INFO(entry.name << (row_major ? ", row-major, " : ", column-major, ") << flags);
        REQUIRE(g_told.calls == 0);
        REQUIRE(std::count(memory.begin() + 40, memory.end(), TestType(5)) == (entry.form == Form::grouped ? 24 : 12));
      }
}

TEMPLATE_TEST_CASE("an empty product needs a leading dimension of 1", "[blas]", float, double, std::complex<float>,
                   std::complex<double>) {
  for (const Entry<TestType>& entry : entries<TestType>(kLetter<TestType>)) {
    Group<TestType> g;
    g.m = g.n = g.k = 0;
    g.a = {nullptr}, g.b = {nullptr}, g.c = {nullptr};
    INFO(entry.name);
    g_told = {};
    entry({kColumnMajor, {g}, 1});
    REQUIRE(g_told.calls == 0);
    g.ldc = 0;
    entry({kColumnMajor, {g}, 1});
    REQUIRE(g_told.calls == 1);
  }
}

/// The arguments of a symmetric product in netlib's order, and how to spoil them.
template <class T>
struct SymmetricFault {
  int position;
  void (*spoil)(SymmetricCall<T>&);
};

TEMPLATE_TEST_CASE("xerbla is told the first bad argument of a symmetric product", "[blas]", float, double,
                   std::complex<float>, std::complex<double>) {
  using Call = SymmetricCall<TestType>;
  const std::vector<SymmetricFault<TestType>> faults = {
      {0, [](Call& c) { c.layout = 100; }}, {1, [](Call& c) { c.uplo = 'X'; }}, {2, [](Call& c) { c.trans = '/'; }},
      {3, [](Call& c) { c.n = -1; }},       {4, [](Call& c) { c.k = -1; }},     {7, [](Call& c) { --c.lda; }},
      {10, [](Call& c) { --c.ldc; }}};
  for (const SymmetricEntry<TestType>& entry : symmetric_entries<TestType>(kLetter<TestType>))
    for (const bool row_major : {false, true})
      for (const char trans : {'N', 'T', 'c'})
        for (std::size_t one = 0; one < faults.size(); ++one)
          for (std::size_t other = one; other < faults.size(); ++other) {
            if (!entry.takes(trans) || (!entry.c_interface && (row_major || one == 0))) continue;
            std::vector<TestType> memory(64, TestType(1));
            Call call{row_major ? kRowMajor : kColumnMajor, 'U', trans, 3, 5};
            call.a = memory.data(), call.c = memory.data() + 20;
            call.lda = row_major == (trans == 'N') ? call.k : call.n, call.ldc = call.n;
            faults[one].spoil(call), faults[other].spoil(call);
            INFO(entry.name << (row_major ? ", row-major, " : ", column-major, ") << trans << ", bad "
                            << faults[one].position << " and " << faults[other].position);
            g_told = {};
            RowMajorStrg = 0;
            entry(call);
            REQUIRE(g_told.calls == 1);
            REQUIRE(g_told.handler == handler_of(entry));
            REQUIRE(g_told.routine == entry.routine);
            REQUIRE(g_told.position == faults[one].position + entry.c_interface);
            REQUIRE(memory == std::vector<TestType>(64, TestType(1)));
          }
}

TEMPLATE_TEST_CASE("syrk takes no conjugate transpose, and herk no other one", "[blas]", std::complex<float>,
                   std::complex<double>) {
  for (const SymmetricEntry<TestType>& entry : symmetric_entries<TestType>(kLetter<TestType>)) {
    TestType a = 1, c = 2;
    INFO(entry.name);
    g_told = {};
    RowMajorStrg = 0;
    entry({kColumnMajor, 'U', entry.hermitian ? 'T' : 'C', 1, 1, 1, &a, 1, 1, &c, 1});
    REQUIRE(g_told.calls == 1);
    REQUIRE(g_told.position == 2 + entry.c_interface);
    REQUIRE(c == TestType(2));
  }
}

}  // namespace
