// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Few elements far apart: operands that span more than 2^31 elements, of which only some pages exist. Any distance or
/// index in 32 bits goes wrong here.

#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cstring>

#include <sys/mman.h>

namespace tessera::test {

namespace {

constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 11;

/// Address space for `size` elements; pages come into being when they are touched.
template <class T>
class SparseArray {
 public:
  explicit SparseArray(std::int64_t size) : bytes_(std::size_t(size) * sizeof(T)) {
    void* const made =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
      SKIP("this system does not reserve " << (bytes_ >> 30) << " GiB of address space: " << std::strerror(errno));
    data_ = static_cast<T*>(made);
  }
  ~SparseArray() { munmap(data_, bytes_); }
  SparseArray(const SparseArray&) = delete;
  SparseArray& operator=(const SparseArray&) = delete;
  T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::size_t bytes_;
  T* data_;
};

/// Small integers: everything is exact.
template <class T>
void fill(const SparseArray<T>& array, const MatrixLayout& layout, Random& random) {
  for (std::int64_t l = 0; l < layout.batch; ++l)
    for (std::int64_t i = 0; i < layout.rows; ++i)
      for (std::int64_t j = 0; j < layout.columns; ++j)
        array[layout.at(l, i, j)] = number<T>(double(random.integer(-99, 99)));
}

template <class T>
void check_gemm(Subject& subject, GemmDesc desc, const std::string& algorithm) {
  desc.dtype = kDType<T>;
  const GemmLayout layout = layout_of(desc);
  SparseArray<T> a(layout.a.span()), b(layout.b.span()), c(layout.c.span());
  Random random("sparse gemm");
  fill(a, layout.a, random);
  fill(b, layout.b, random);
  fill(c, layout.c, random);
  const Expected<T> expected = gemm_reference<T>(desc, Scalar<T>(2), a.data(), b.data(), Scalar<T>(1), c.data(), true);
  GemmPlan plan(subject.context(), desc, {.algorithm = algorithm});
  plan.execute(Scalar<T>(2), a.data(), b.data(), Scalar<T>(1), c.data());
  std::size_t at = 0;
  for (std::int64_t l = 0; l < desc.batch; ++l)
    for (std::int64_t i = 0; i < desc.m; ++i)
      for (std::int64_t j = 0; j < desc.n; ++j) CHECK(acceptable<T>(c[layout.c.at(l, i, j)], expected.value[at++], 0));
}

template <class T>
void check_stencil(Subject& subject, StencilDesc desc, const std::string& algorithm) {
  desc.dtype = kDType<T>;
  const StencilLayout layout = layout_of(desc);
  SparseArray<T> in(layout.in_span), out(layout.out_span);
  Random random("sparse stencil");
  const auto each = [&](const auto& strides, auto&& body) {
    for (std::int64_t i = 0; i < layout.extents[0]; ++i)
      for (std::int64_t j = 0; j < layout.extents[1]; ++j)
        for (std::int64_t l = 0; l < layout.extents[2]; ++l) body(i * strides[0] + j * strides[1] + l * strides[2]);
  };
  each(layout.in_strides, [&](std::int64_t place) { in[place] = number<T>(double(random.integer(-99, 99))); });
  const Expected<T> expected = stencil_reference<T>(desc, in.data(), true);
  StencilPlan plan(subject.context(), desc, {.algorithm = algorithm});
  plan.execute(in.data(), out.data());
  std::size_t at = 0;
  each(layout.out_strides, [&](std::int64_t place) { CHECK(acceptable<T>(out[place], expected.value[at++], 0)); });
}

/// Runs `check` with every algorithm that supports the problem; at least one of all must, unless the backend may refuse
/// the type.
template <class T, class Check>
void with_every_algorithm(Subject& subject, tessera_op op, Check&& check) {
  Tally tally;
  const std::vector<std::string> names = subject.tested(op);
  for (const std::string& name : names) {
    INFO("algorithm " << name << "; repeat with TESSERA_TEST_SEED=" << seed());
    try {
      check(name);
      ++tally.run;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      ++tally.refused[error.what()];
    }
  }
  if (names.size() == subject.algorithms(op).size())
    report(subject.spec() + " on sparse operands", tally, kNarrow<T> && !subject.is_complete());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("GEMM with more than 2^31 elements between rows or matrices", "[gemm][sparse]", ElementTypes) {
  Subject subject;
  GemmDesc rows{.m = 3, .n = 5, .k = 4, .lda = kFar, .ldb = kFar + 2, .ldc = kFar - 2};
  GemmDesc columns = rows;
  columns.order = Order::column_major;
  columns.trans_a = columns.trans_b = Transpose::yes;
  const GemmDesc matrices{
      .m = 3, .n = 5, .k = 4, .batch = 3, .stride_a = kFar, .stride_b = kFar + 7, .stride_c = kFar + 1};
  for (const GemmDesc& desc : {rows, columns, matrices})
    with_every_algorithm<TestType>(subject, TESSERA_OP_GEMM,
                                   [&](const std::string& name) { check_gemm<TestType>(subject, desc, name); });
}

TEMPLATE_LIST_TEST_CASE("stencils with more than 2^31 elements between points", "[stencil][sparse]", ElementTypes) {
  Subject subject;
  const StencilDesc rows{.extents = {4, 6}, .taps = {}, .in_strides = {kFar, 1}, .out_strides = {kFar + 5, 1}};
  const StencilDesc fortran{.extents = {5, 3}, .taps = {}, .in_strides = {1, kFar}, .out_strides = {1, kFar}};
  const StencilDesc planes{
      .extents = {3, 3, 5}, .taps = {}, .in_strides = {kFar, kFar / 4, 1}, .out_strides = {kFar, kFar / 4, 1}};
  for (StencilDesc desc : {rows, fortran, planes})
    for (const Boundary mode : {Boundary::periodic, Boundary::fixed})
      for (const std::int64_t steps : {1, 2}) {
        desc.taps = star(int(desc.extents.size()), 1, Weights::integer);
        desc.boundary = mode;
        desc.steps = steps;
        with_every_algorithm<TestType>(subject, TESSERA_OP_STENCIL,
                                       [&](const std::string& name) { check_stencil<TestType>(subject, desc, name); });
      }
}

}  // namespace tessera::test
