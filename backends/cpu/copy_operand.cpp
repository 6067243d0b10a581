// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of operands, in their own or the next wider type.

#include "context.hpp"
#include "convert.hpp"
#include "thread_pool.hpp"

#include <tessera/plugin/operand_copy.hpp>

#include <algorithm>
#include <type_traits>

namespace tessera::cpu {
namespace {

/// That pass between memory and the processor: what is written is read before.
double bytes_of(const plugin::OperandCopy& c) {
  return c.elements() * double(plugin::size_of(c.from) + 2 * plugin::size_of(c.to));
}

template <class From, class To>
void copy_row(const From* from, std::int64_t count, To* to) {
  if constexpr (sizeof(From) == 2 && !std::is_same_v<From, To>)
    copy_wide(from, count, to);
  else
    std::copy(from, from + count, to);
}

}  // namespace

plugin::CopyOperand Context::copying(const plugin::OperandCopy& c) {
  const int threads = machine_.useful_threads(bytes_of(c) / machine_.bandwidth(1));
  return plugin::with_copied_types(
      c, [&]<class From, class To>(std::type_identity<From>, std::type_identity<To>) -> plugin::CopyOperand {
        return [c, threads](const void* from, void* to) {
          run_team(threads, [&](const Team& team) {
            const std::int64_t rows = c.rows * c.matrices;
            for (std::int64_t row = team.begin(rows), end = team.end(rows); row < end; ++row)
              copy_row(static_cast<const From*>(from) + row / c.rows * c.stride + row % c.rows * c.ld, c.columns,
                       static_cast<To*>(to) + row * c.copy_ld);
          });
        };
      });
}

double Context::copying_seconds(const Machine& machine, const plugin::OperandCopy& c) {
  const double bytes = bytes_of(c);
  const int threads = machine.useful_threads(bytes / machine.bandwidth(1));
  return machine.overhead(threads) + bytes / (threads * machine.bandwidth(threads));
}

}  // namespace tessera::cpu
