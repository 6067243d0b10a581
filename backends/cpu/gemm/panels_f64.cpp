// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "panels.ipp"

namespace tessera::cpu {

template void multiply_panels(const TileProduct<double>&, const Blocks&, double*);
template int pack_columns(const TileProduct<double>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double*);
template void multiply_small(const TileProduct<double>&);
template std::vector<TileStep<double>> tile_steps(const plugin::GemmProblem&);

}  // namespace tessera::cpu
