// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <type_traits>

namespace tessera::perf {

/// What the references of a type compute in: its rounding errors are small beside those of T.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < sizeof(double)), double, long double>;

}  // namespace tessera::perf
