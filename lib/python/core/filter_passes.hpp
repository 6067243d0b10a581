// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Passes of filters over arrays of the host, beside the library's stencils: weighted sums and means in the arithmetic
/// of SciPy, elements converted to f64 and each result cast as C does, and means of floating-point numbers.
#pragma once

#include "filter_frame.hpp"

#include <cstdint>
#include <span>

namespace tessera::python {

/// out[p] = sum over the windows of weights * in. `weights`: in the order of the arrays' axes, a number for each point
/// of the windows. SumOrder::plain leaves out weights of at most 2^-52, NaN too. Arrays must not share memory.
void weighted_pass(const Elements& in, const Elements& out, std::span<const Window> windows,
                   std::span<const double> weights, SumOrder order, double constant, int threads);

/// The mean over the window of one axis by a running sum, which starts at the begin of each line.
void running_mean(const Elements& in, const Elements& out, int axis, const Window& window, double constant,
                  int threads);

/// The mean over the windows, of arrays of one floating-point type: a sum in that type, which is then divided.
void box_mean(const Elements& in, const Elements& out, std::span<const Window> windows, double constant, int threads);

}  // namespace tessera::python
