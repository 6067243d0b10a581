// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Products that Tessera cannot do.
#pragma once

#include "product.hpp"

namespace tessera::blas {

/// Has a product (batch = 1) done by the BLAS behind this library, and says why under TESSERA_VERBOSE. Aborts the
/// program with a message where there is none, or where C is `lost`, since it may be half written and was to be read.
template <class T>
void forward(const Product<T>& product, const char* reason, bool lost) noexcept;

extern template void forward<float>(const Product<float>&, const char*, bool) noexcept;
extern template void forward<double>(const Product<double>&, const char*, bool) noexcept;
extern template void forward<std::complex<float>>(const Product<std::complex<float>>&, const char*, bool) noexcept;
extern template void forward<std::complex<double>>(const Product<std::complex<double>>&, const char*, bool) noexcept;

}  // namespace tessera::blas
