// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Sums of D's rows or columns.

#include "context.hpp"
#include "convert.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/bias_gradient.hpp>
#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace tessera::cpu {
namespace {

using plugin::BiasGradient;

constexpr std::int64_t kColumns = 512;  ///< that are summed at a time
constexpr std::int64_t kMostParts = 16, kLeastRows = 64;

/// Up to kColumns elements in the type of sums: where they lie, or in `copy`.
template <class T>
const Scalar<T>* widened(const T* from, std::int64_t count, Scalar<T>* copy) {
  if constexpr (sizeof(T) == 2) {
    copy_wide(from, count, copy);
    return copy;
  } else {
    return from;
  }
}

/// Sums of D's rows: lane by lane, then the lanes, kColumns at a time.
template <class T>
class RowSums {
  using S = Scalar<T>;

 public:
  explicit RowSums(const BiasGradient& g) : g_(g) {}
  std::int64_t steps() const { return 1; }

  void run(const Team& team, std::int64_t, const T* d, auto&& store) const {
    const std::int64_t vectors = g_.shared() ? 1 : g_.batch, batch = g_.shared() ? g_.batch : 1;
    for (std::int64_t at = team.begin(vectors * g_.m), end = team.end(vectors * g_.m); at < end; ++at) {
      const std::int64_t vector = at / g_.m, row = at % g_.m;
      S sum = 0;
      for (std::int64_t item = 0; item < batch; ++item) sum += of_row(d + (vector + item) * g_.stride_d + row * g_.ldd);
      store(vector, row, sum);
    }
  }

 private:
  S of_row(const T* row) const {
    S total = 0, copy[kColumns];
    for (std::int64_t first = 0; first < g_.n; first += kColumns) {
      const std::int64_t count = std::min(kColumns, g_.n - first);
      const S* const values = widened(row + first, count, copy);
      Vector<S> lanes{};
      std::int64_t x = 0;
      for (; x + kLanes<S> <= count; x += kLanes<S>) lanes += load(values + x);
      S sum = 0;
      for (int lane = 0; lane < kLanes<S>; ++lane) sum += lanes[lane];
      for (; x < count; ++x) sum += values[x];
      total += sum;
    }
    return total;
  }

  BiasGradient g_;
};

/// Sums of D's columns: of parts of the rows, as many as there are rows for, then of the parts.
template <class T>
class ColumnSums {
  using S = Scalar<T>;

 public:
  explicit ColumnSums(const BiasGradient& g)
      : g_(g),
        vectors_(g.shared() ? 1 : g.batch),
        rows_(g.shared() ? g.batch * g.m : g.m),
        parts_(std::clamp<std::int64_t>(rows_ / kLeastRows, 1, kMostParts)),
        sums_(std::make_shared<std::vector<S>>(std::size_t(parts_ * vectors_ * g.n))) {}
  std::int64_t steps() const { return 2; }

  void run(const Team& team, std::int64_t step, const T* d, auto&& store) const {
    if (step == 0) {
      const std::int64_t blocks = plugin::ceil_div(g_.n, kColumns), units = blocks * parts_ * vectors_;
      for (std::int64_t unit = team.begin(units), end = team.end(units); unit < end; ++unit)
        sum_part(unit / blocks, unit % blocks * kColumns, d);
      return;
    }
    const std::int64_t values = vectors_ * g_.n;
    for (std::int64_t at = team.begin(values), end = team.end(values); at < end; ++at) {
      const std::int64_t vector = at / g_.n, column = at % g_.n;
      S sum = 0;
      for (std::int64_t part = 0; part < parts_; ++part)
        sum += (*sums_)[std::size_t((vector * parts_ + part) * g_.n + column)];
      store(vector, column, sum);
    }
  }

 private:
  void sum_part(std::int64_t number, std::int64_t column, const T* d) const {
    const std::int64_t vector = number / parts_, part = number % parts_, count = std::min(kColumns, g_.n - column);
    S sums[kColumns] = {}, copy[kColumns];
    for (std::int64_t row = rows_ * part / parts_; row < rows_ * (part + 1) / parts_; ++row) {
      const T* const from = d + (vector + row / g_.m) * g_.stride_d + row % g_.m * g_.ldd + column;
      const S* const values = widened(from, count, copy);
      for (std::int64_t x = 0; x < count; ++x) sums[x] += values[x];
    }
    std::copy_n(sums, count, sums_->data() + number * g_.n + column);
  }

  BiasGradient g_;
  std::int64_t vectors_, rows_, parts_;
  std::shared_ptr<std::vector<S>> sums_;  ///< of the parts, since a function is copied
};

template <class T>
void store(const BiasGradient& g, void* bias, std::int64_t place, Scalar<T> value) {
  if (g.dtype_bias == tessera_dtype(kDType<T>))
    static_cast<T*>(bias)[place] = T(value);
  else
    static_cast<Scalar<T>*>(bias)[place] = value;
}

}  // namespace

plugin::SumBias Context::summing(const BiasGradient& g) {
  const int threads = machine_.useful_threads(g.bytes() / machine_.bandwidth(1));
  return plugin::with_types(g.dtype, [&]<class T>(std::type_identity<T>) -> plugin::SumBias {
    const auto with = [&](const auto& sums) -> plugin::SumBias {
      return [g, threads, sums](const void* d, void* bias) {
        run_steps(threads, sums.steps(), [&](const Team& team, std::int64_t step) {
          sums.run(team, step, static_cast<const T*>(d), [&](std::int64_t vector, std::int64_t i, Scalar<T> value) {
            store<T>(g, bias, vector * g.stride + i * g.increment, value);
          });
        });
      };
    };
    return g.per_row ? with(RowSums<T>(g)) : with(ColumnSums<T>(g));
  });
}

}  // namespace tessera::cpu
