// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Tags of messages. Halos have those below 27, one for each direction.
#pragma once

namespace tessera::distributed {

inline constexpr int kBlockTag = 64;           ///< of stencils' blocks to and from a root; halos have 0 to 26
inline constexpr int kRedistributionTag = 65;  ///< of matrices
inline constexpr int kPanelTags = 66;          ///< of A, and behind it of B

}  // namespace tessera::distributed
