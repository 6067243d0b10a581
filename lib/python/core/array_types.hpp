// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What types of arrays offer.
#pragma once

#include "arrays.hpp"

namespace tessera::python {

struct ArrayType {
  const dlpack::Exchange* exchange;  ///< its functions in C; null where it has none
  bool may_be_lazy;                  ///< has is_neg(), as PyTorch's tensors
};

/// Of an object's type, which is asked once while it lives.
ArrayType type_of(nb::handle object);

/// Whether a tensor stands for other numbers than those in its memory: the negative, or the conjugate.
bool is_lazy(nb::handle tensor);
/// The tensor whose memory has the numbers.
nb::object resolved(nb::handle tensor);

}  // namespace tessera::python
