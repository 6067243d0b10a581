// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Plans of an emulated device are made by tests.
#pragma once

#include "box_cells.cuh"

#include <machine.hpp>

namespace tessera::cuda {

class Context {
 public:
  const Machine& machine() const;
};
template <auto kKernel, class T, class Layout>
class BoxPlan;

}  // namespace tessera::cuda
