// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "blocked.ipp"

template void tessera::cpu::multiply_blocked(const TileProduct<double>& tile);
