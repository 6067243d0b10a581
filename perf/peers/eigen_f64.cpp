// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "eigen_product.hpp"

template void tessera::perf::eigen_multiply(const GemmShape&, const double*, const double*, double*);
