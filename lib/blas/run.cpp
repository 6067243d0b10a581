// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "forward.hpp"
#include "plan_table.hpp"
#include "product.hpp"

#include <tessera/tessera.h>
#include <tessera/dtype.hpp>
#include <tessera/plugin/floating_mode.hpp>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <iterator>
#include <utility>

namespace tessera::blas {
namespace {

/// A thread's table holds small products alone: for others the plan cache costs nothing beside the work, and it bounds
/// the memory of plans. In bytes, of the operands and of the workspace.
constexpr std::int64_t kLargestKept = std::int64_t{1} << 17;

/// What went wrong with a product.
struct Failure {
  Failure() { message[0] = '\0'; }  // the rest is not worth the time
  char message[512];
  tessera_error error{sizeof(tessera_error), TESSERA_OK, 0, message, sizeof message};
  bool started = false;  ///< C may have been written
};

/// BLAS has no conjugate that is not transposed.
tessera_transpose transpose_of(bool transposed, bool conjugated) {
  return !transposed ? TESSERA_NO_TRANSPOSE : conjugated ? TESSERA_CONJUGATE_TRANSPOSE : TESSERA_TRANSPOSE;
}

/// Field by field: to set all to zero first would take as long as the checks of a small product.
template <class T>
tessera_gemm_desc descriptor_of(const Product<T>& p) {
  const bool many = p.batch > 1;
  tessera_gemm_desc d;
  d.struct_size = sizeof d, d.op = TESSERA_OP_GEMM;
  d.dtype = tessera_dtype(kDType<T>), d.dtype_d = 0, d.dtype_bias = 0, d.compute = TESSERA_COMPUTE_DEFAULT;
  d.order = TESSERA_COLUMN_MAJOR, d.bias = TESSERA_BIAS_NONE, d.activation = TESSERA_ACTIVATION_NONE;
  d.trans_a = transpose_of(p.trans_a, p.conjugate_a), d.trans_b = transpose_of(p.trans_b, p.conjugate_b);
  d.m = p.m, d.n = p.n, d.k = p.k;
  d.lda = p.lda, d.ldb = p.ldb, d.ldc = p.ldc, d.ldd = 0;
  d.batch = p.batch, d.stride_a = many ? p.stride_a : TESSERA_PACKED;
  d.stride_b = many ? p.stride_b : TESSERA_PACKED, d.stride_c = many ? p.stride_c : TESSERA_PACKED;
  d.stride_d = 0, d.bias_increment = 0, d.bias_stride = 0;
  d.aux = TESSERA_AUX_NONE, d.ldaux = 0, d.stride_aux = 0;
  d.triangle = p.part == Part::all     ? TESSERA_TRIANGLE_NONE
               : p.part == Part::lower ? TESSERA_TRIANGLE_LOWER
                                       : TESSERA_TRIANGLE_UPPER;
  d.sums = TESSERA_SUMS_ANY, d.dtype_b = 0, d.whole_n = 0;
  return d;
}

Shape shape_of(const tessera_gemm_desc& d) {
  return {d.dtype, d.trans_a, d.trans_b, d.m,        d.n,        d.k,        d.lda,
          d.ldb,   d.ldc,     d.batch,   d.stride_a, d.stride_b, d.stride_c, d.triangle};
}

/// Whether it is small and is done without a plan.
template <class T>
bool run_small(const Product<T>& p) {
  const tessera_gemm_desc desc = descriptor_of(p);
  return tessera_small_gemm(nullptr, &desc, p.alpha, p.a, p.b, p.beta, p.c, nullptr) != 0;
}

/// Rows of op(A) by columns of op(B) from a place of C on, all of them.
template <class T>
Product<T> block_of(const Product<T>& p, std::int64_t row, std::int64_t column, std::int64_t rows,
                    std::int64_t columns) {
  Product<T> block = p;
  block.part = Part::all, block.m = rows, block.n = columns;
  block.a += row * (p.trans_a ? p.lda : 1), block.b += column * (p.trans_b ? 1 : p.ldb);
  block.c += row + column * p.ldc;
  return block;
}

/// A block on the diagonal, computed whole beside C. Whether that takes no plan; with `in_any_case` it is done.
template <class T>
bool run_diagonal(const Product<T>& p, std::int64_t first, std::int64_t width, T* beside, bool in_any_case) {
  Product<T> block = block_of(p, first, first, width, width);
  T* const c = std::exchange(block.c, beside);
  block.ldc = width;
  const auto each = [&](const auto& body) {
    for (std::int64_t j = 0; j < width; ++j)
      for (std::int64_t i = p.part == Part::lower ? j : 0, end = p.part == Part::lower ? width : j + 1; i < end; ++i)
        body(beside[i + j * width], c[i + j * p.ldc]);
  };
  std::fill_n(beside, width * width, T(0));
  if (p.beta != T(0)) each([](T& there, T here) { there = here; });
  if (!run_small(block)) {
    if (!in_any_case) return false;
    run(block);
  }
  each([](T there, T& here) { here = there; });
  return true;
}

/// The same for a triangle of C, by small products.
template <class T>
bool run_small_triangle(const Product<T>& p) {
  constexpr std::int64_t kWidth = 32;
  T beside[kWidth * kWidth];
  for (std::int64_t first = 0; first < p.n; first += kWidth) {
    const std::int64_t width = std::min(kWidth, p.n - first), next = first + width, rest = p.n - next;
    if (rest > 0) {
      const Product<T> block =
          p.part == Part::lower ? block_of(p, next, first, rest, width) : block_of(p, first, next, width, rest);
      if (!run_small(block)) {
        if (first == 0) return false;  // nothing is written so far
        run(block);
      }
    }
    if (!run_diagonal(p, first, width, beside, first > 0 || rest > 0)) return false;
  }
  return true;
}

/// Matrices that are not read are left out: BLAS lets them be anything.
template <class T>
bool execute(tessera_plan* plan, const Product<T>& p, Failure& failure) {
  constexpr tessera_dtype kType = tessera_dtype(kDType<T>);
  const bool read = p.reads_inputs();
  const tessera_operand operands[] = {{const_cast<T*>(read ? p.a : nullptr), kType, TESSERA_ROLE_A},
                                      {const_cast<T*>(read ? p.b : nullptr), kType, TESSERA_ROLE_B},
                                      {p.c, kType, TESSERA_ROLE_C}};
  const auto scalar = [](std::complex<double> value) { return tessera_scalar{kType, 0, value.real(), value.imag()}; };
  const tessera_scalar scalars[] = {scalar(p.alpha), scalar(p.beta)};
  const tessera_execution execution = {sizeof execution,
                                       operands,
                                       sizeof *operands,
                                       std::size(operands),
                                       scalars,
                                       sizeof *scalars,
                                       std::size(scalars),
                                       nullptr,
                                       0,
                                       0};
  const tessera_status status = tessera_plan_execute(plan, &execution, &failure.error);
  failure.started = status == TESSERA_DEVICE_ERROR || status == TESSERA_INTERNAL;
  return status == TESSERA_OK;
}

/// Elements of an operand, as far as they count here.
std::int64_t footprint(std::int64_t lines, std::int64_t ld) {
  return lines > kLargestKept || ld > kLargestKept ? kLargestKept : lines * ld;
}

template <class T>
bool small(const Product<T>& p) {
  if (p.batch > kLargestKept) return false;
  const std::int64_t elements =
      footprint(p.trans_a ? p.m : p.k, p.lda) + footprint(p.trans_b ? p.k : p.n, p.ldb) + footprint(p.n, p.ldc);
  return p.batch * elements * std::int64_t(sizeof(T)) <= kLargestKept;
}

bool has_small_workspace(const tessera_plan* plan) {
  tessera_plan_info info{};
  info.struct_size = sizeof info;
  return tessera_get_plan_info(plan, &info, nullptr) == TESSERA_OK && info.workspace_bytes <= kLargestKept;
}

/// By a plan that the thread has, else by one of the plan cache, which the thread then has where that is small.
template <class T>
bool run_plan(const Product<T>& p, Failure& failure) {
  const tessera_gemm_desc desc = descriptor_of(p);
  const Shape shape = shape_of(desc);
  PlanTable* const table = PlanTable::of_thread();
  const bool kept = table != nullptr && small(p);
  if (kept)
    if (tessera_plan* const plan = table->find(shape)) {
      if (execute(plan, p, failure)) return true;
      table->remove(plan);
      return false;
    }
  tessera_plan* plan = nullptr;
  const auto* const any = reinterpret_cast<const tessera_desc*>(&desc);
  if (tessera_plan_borrow(nullptr, any, nullptr, &plan, &failure.error) != TESSERA_OK) return false;
  const bool done = execute(plan, p, failure);
  if (done && kept && has_small_workspace(plan))
    table->add(shape, plan);
  else
    tessera_plan_destroy(plan);
  return done;
}

/// Whether it is done. In the default floating-point mode also alpha and beta are what they are: others may take small
/// ones for 0.
template <class T>
[[gnu::noinline]] bool try_run(const Product<T>& product, Failure& failure) {
  if constexpr (!kComplex<T>)
    if (product.part == Part::all ? run_small(product) : run_small_triangle(product)) return true;
  return product.does_nothing() || run_plan(product, failure);
}

}  // namespace

/// Batches that no plan has, by their strides or since one product reads what another writes, are done one after
/// another.
template <class T>
void run(const Product<T>& product) noexcept {
  Failure failure;
  bool lost = false;
  {
    const plugin::DefaultMode mode;
    if (try_run(product, failure)) return;
    lost = failure.started && product.beta != T(0);
  }
  if (product.batch == 1 || lost) return forward(product, failure.message, lost);
  for (std::int64_t i = 0; i < product.batch; ++i) run(product.single(i));
}

template void run<float>(const Product<float>&) noexcept;
template void run<double>(const Product<double>&) noexcept;
template void run<std::complex<float>>(const Product<std::complex<float>>&) noexcept;
template void run<std::complex<double>>(const Product<std::complex<double>>&) noexcept;

}  // namespace tessera::blas
