// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an execution of a product gets.
#pragma once

#include "finish.hpp"

#include <tessera/plugin/plugin.hpp>

#include <cstdint>
#include <optional>

namespace tessera::cpu {

/// A and B of type T, C and D of type To. Where C is not read, D stands for it: C may be null then.
template <class T, class To = T>
struct GemmArguments {
  using S = Scalar<To>;
  S alpha, beta;
  const T *a, *b;
  To* d;
  const To* c;
  std::int64_t ldc, stride_c;
  S* workspace;
  std::optional<plugin::Epilogue<S>> epilogue;  ///< not made where there is none: it takes some nanoseconds

  GemmArguments(const plugin::GemmProblem& p, const plugin::Execution& execution)
      : alpha(execution.scalar<S>(0)),
        beta(execution.scalar<S>(1)),
        a(execution.operand<const T>(0)),
        b(execution.operand<const T>(1)),
        d(execution.operand<To>(3)),
        c(beta != S(0) ? execution.operand<const To>(2) : d),
        ldc(beta != S(0) ? p.ldc : p.ldd),
        stride_c(beta != S(0) ? p.stride_c : p.stride_d),
        workspace(execution.workspace<S>()) {
    if (p.has_epilogue()) epilogue.emplace(p, execution);
  }

  Finish<S> finish(std::int64_t item, std::int64_t i, std::int64_t j) const {
    return {epilogue ? &*epilogue : nullptr, item, i, j};
  }
};

}  // namespace tessera::cpu
