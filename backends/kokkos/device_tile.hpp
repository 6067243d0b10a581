// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tile that a team keeps in scratch: chosen as the CUDA backend chooses a block's.
#pragma once

#include "../cuda/stencil/tile/tile.hpp"
