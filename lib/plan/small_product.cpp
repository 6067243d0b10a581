// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/small_product.hpp"

#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "problem/layout.hpp"
#include "problem/problem.hpp"
#include "wisdom/wisdom.hpp"

#include <tessera/tessera.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>
#include <utility>

namespace tessera::core {
namespace {

constexpr SmallGemm kNone{};

/// Whose function small products take; null: to be asked.
std::atomic<const SmallGemm*> g_chosen{nullptr};
std::mutex g_mutex;
std::uint64_t g_readings = 0;  // of the environment

/// Whether the environment leaves the algorithm of a product to the model of time, and says nothing about it. What it
/// says of a device's multiprocessors is read since a plan refuses what it cannot parse.
bool by_model() {
  return environment_verbose() == 0 && environment_sm_limit() >= 0 &&
         environment_algorithm(TESSERA_OP_GEMM).name.empty() && environment_compute() == TESSERA_COMPUTE_STRICT &&
         environment_effort() != TESSERA_EFFORT_MEASURE && environment_wisdom().empty();
}

/// That of the backend which the model of time would choose for the largest product that its function takes.
const SmallGemm& ask() {
  if (!by_model()) return kNone;
  const Request request{environment_backend(), {}};
  for (Backend* const backend : Registry::instance().matching(request.backend.name)) {
    const SmallGemm& small = backend->small_gemm();
    const std::int64_t all = std::max(small.of_type[0].multiply_adds, small.of_type[1].multiply_adds);
    if (all <= 0) continue;
    const auto most = std::int64_t(std::cbrt(double(std::min(all, kMostSmall * kMostSmall * kMostSmall))));
    const tessera_gemm_desc desc = tessera_packed_gemm(TESSERA_F64, most, most, most);
    const Problem problem = validate(reinterpret_cast<const tessera_desc*>(&desc), environment_compute);
    const Question question{problem.desc(), TESSERA_MEMORY_HOST, environment_threads(),
                            TESSERA_DEFAULT_WORKSPACE_LIMIT};
    if (dispatch(request, question).backend == backend) return small;
  }
  return kNone;
}

const SmallGemm& chosen() {
  if (const SmallGemm* const known = g_chosen.load(std::memory_order_acquire)) return *known;
  const SmallGemm* found = &kNone;
  std::unique_lock lock(g_mutex);
  const std::uint64_t reading = g_readings;
  lock.unlock();
  try {
    found = &ask();
  } catch (const Error& error) {  // which the plan tells
    if (error.status() == TESSERA_OUT_OF_MEMORY) return kNone;
  } catch (...) {
    return kNone;
  }
  lock.lock();
  if (reading == g_readings) g_chosen.store(found, std::memory_order_release);
  return *found;
}

/// Whether it is of a type that small products have, and BLAS could say it.
bool is_plain(const tessera_gemm_desc& d) {
  if (d.struct_size != sizeof d) return false;
  const auto zero_or_one = [](std::int32_t value) { return (value & ~1) == 0; };
  return d.op == TESSERA_OP_GEMM && std::size_t(d.dtype - TESSERA_F32) < SmallGemm::kTypes &&
         (d.dtype_b == 0 || d.dtype_b == d.dtype) && (d.dtype_d == 0 || d.dtype_d == d.dtype) &&
         (d.compute == TESSERA_COMPUTE_DEFAULT || d.compute == TESSERA_COMPUTE_STRICT) && zero_or_one(d.order) &&
         zero_or_one(d.trans_a) && zero_or_one(d.trans_b) && d.bias == TESSERA_BIAS_NONE &&
         d.activation == TESSERA_ACTIVATION_NONE && d.aux == TESSERA_AUX_NONE && d.triangle == TESSERA_TRIANGLE_NONE &&
         d.sums == TESSERA_SUMS_ANY && d.whole_n == 0 && d.batch == 1 && d.ldd == 0 && d.stride_d == 0 &&
         d.stride_a == TESSERA_PACKED && d.stride_b == TESSERA_PACKED && d.stride_c == TESSERA_PACKED;
}

/// A stored matrix.
struct Matrix {
  const void* data;
  Rows rows;
  std::uint64_t elements;  ///< that there are

  Matrix(const void* x, std::int64_t lines, std::int64_t length, std::int64_t ld, std::uint64_t known)
      : data(x), rows{lines, length, ld == TESSERA_PACKED ? length : ld}, elements(known) {}

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(data); }
  /// Whether a plan would take it.
  bool is_sound(int log_size) const {
    constexpr std::int64_t kMostLd = std::int64_t{1} << 40;  // so that nothing overflows
    const std::uintptr_t misaligned = (std::uintptr_t{1} << log_size) - 1;
    return data != nullptr && (address() & misaligned) == 0 && rows.ld >= rows.length && rows.ld <= kMostLd &&
           std::uint64_t(rows.reach()) < elements;
  }
  /// Whether it shares no element with C. Not known where pitches differ.
  bool is_apart(const Matrix& c, int log_size) const {
    const std::int64_t distance = std::int64_t(c.address() - address()) >> log_size;
    if (distance > rows.reach() || -distance > c.rows.reach()) return true;
    return rows.ld == c.rows.ld && !share_element(rows, c.rows, distance);
  }
};

/// Null where the product needs a plan.
const SmallGemm::OfType* function_for(const Context* context, const tessera_gemm_desc& d) {
  if (!is_plain(d) || Wisdom::instance().any()) return nullptr;
  const SmallGemm& small = chosen();
  if (context != nullptr && (&context->table() != small.table || context->dead())) return nullptr;
  const SmallGemm::OfType& of_type = small.of_type[std::size_t(d.dtype - TESSERA_F32)];
  const auto fits = [&](std::int64_t extent) { return extent >= 1 && extent <= of_type.extent; };
  const bool all = fits(d.m) && fits(d.n) && fits(d.k) && d.m * d.n * d.k <= of_type.multiply_adds;
  return all ? &of_type : nullptr;
}

}  // namespace

bool multiply_small(const Context* context, const tessera_gemm_desc& d, double alpha, const void* a, const void* b,
                    double beta, void* c, const std::uint64_t* elements) {
  const SmallGemm::OfType* const small = function_for(context, d);
  if (small == nullptr) return false;
  if (with_types<WideTypes>(d.dtype, [&]<class T>(std::type_identity<T>) { return T(alpha) == T(0); })) return false;

  // A column-major product is the row-major product of the transposes.
  const bool turned = d.order == TESSERA_COLUMN_MAJOR, trans_a = d.trans_a != 0, trans_b = d.trans_b != 0;
  const bool columns_a = trans_a != turned, columns_b = trans_b != turned;
  const auto known = [&](int i) { return elements == nullptr ? UINT64_MAX : elements[i]; };
  const Matrix left(a, columns_a ? d.k : d.m, columns_a ? d.m : d.k, d.lda, known(0));
  const Matrix right(b, columns_b ? d.n : d.k, columns_b ? d.k : d.n, d.ldb, known(1));
  const Matrix to(c, turned ? d.n : d.m, turned ? d.m : d.n, d.ldc, known(2));
  const int log_size = std::countr_zero(std::uint64_t(element_size(d.dtype)));
  if (!left.is_sound(log_size) || !right.is_sound(log_size) || !to.is_sound(log_size)) return false;
  if (!left.is_apart(to, log_size) || !right.is_apart(to, log_size)) return false;

  const Matrix &first = turned ? right : left, &second = turned ? left : right;
  const tessera_transpose trans_first = turned ? trans_b : trans_a, trans_second = turned ? trans_a : trans_b;
  const tessera_small_product product{
      sizeof product, to.rows.rows,   to.rows.length, d.k,   first.data, second.data, c,
      first.rows.ld,  second.rows.ld, to.rows.ld,     alpha, beta,       trans_first, trans_second};
  small->multiply(&product);
  return true;
}

void forget_small_gemm() {
  const std::lock_guard lock(g_mutex);
  ++g_readings;
  g_chosen = nullptr;
}

}  // namespace tessera::core
