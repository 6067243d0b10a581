// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "panels.ipp"

namespace tessera::cpu {

template void multiply_panels(const TileProduct<float>&, const Blocks&, float*);
template void multiply_panels(const TileProduct<float16>&, const Blocks&, float*);
template void multiply_panels(const TileProduct<bfloat16>&, const Blocks&, float*);
template int pack_columns(const TileProduct<float>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
template int pack_columns(const TileProduct<float16>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
template int pack_columns(const TileProduct<bfloat16>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*);
template void multiply_small(const TileProduct<float>&);
template std::vector<TileStep<float>> tile_steps(const plugin::GemmProblem&);

}  // namespace tessera::cpu
