// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Numbers as the tables say them.
#pragma once

#include <string>

namespace tessera::perf {

/// Three significant digits with an SI prefix: "51.9 TFLOP/s", "8.13 us", "1.70 s".
std::string readable(double value, const std::string& unit);

/// Of a ratio: "0.97", "12.3", "1770".
std::string three_digits(double value);

}  // namespace tessera::perf
