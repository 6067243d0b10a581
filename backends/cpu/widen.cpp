// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of elements in the next wider type, before products of two types.

#include "context.hpp"
#include "convert.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/widening.hpp>

#include <algorithm>
#include <type_traits>

namespace tessera::cpu {
namespace {

template <class T>
using Wider = std::conditional_t<sizeof(T) == 2, Scalar<T>, double>;

/// That pass between memory and the processor: what is written is read before.
double bytes_of(const plugin::Widening& w) {
  return w.elements() * double(plugin::size_of(w.from) + 2 * plugin::size_of(w.to));
}

template <class T>
void widen_row(const T* from, std::int64_t count, Wider<T>* to) {
  if constexpr (sizeof(T) == 2)
    copy_wide(from, count, to);
  else
    std::copy(from, from + count, to);
}

}  // namespace

plugin::Widen Context::widening(const plugin::Widening& w) {
  return plugin::with_types(w.from, [&]<class T>(std::type_identity<T>) -> plugin::Widen {
    if constexpr (sizeof(T) == sizeof(double))
      return {};  // nothing is wider
    else
      return [w, threads = machine_.useful_threads(bytes_of(w) / machine_.bandwidth(1))](const void* from, void* to) {
        run_team(threads, [&](const Team& team) {
          const std::int64_t rows = w.rows * w.matrices;
          for (std::int64_t row = team.begin(rows), end = team.end(rows); row < end; ++row)
            widen_row(static_cast<const T*>(from) + row / w.rows * w.stride + row % w.rows * w.ld, w.columns,
                      static_cast<Wider<T>*>(to) + row * w.copy_ld);
        });
      };
  });
}

double Context::widening_seconds(const Machine& machine, const plugin::Widening& w) {
  const double bytes = bytes_of(w);
  const int threads = machine.useful_threads(bytes / machine.bandwidth(1));
  return machine.overhead(threads) + bytes / (threads * machine.bandwidth(threads));
}

}  // namespace tessera::cpu
