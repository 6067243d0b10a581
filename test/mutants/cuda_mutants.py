# SPDX-FileCopyrightText: The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Of mutants.py those of the CUDA backend, which its tests without a device catch."""

CUDA_MUTANTS = [
    ("backends/cuda/gemm/peeled_offers.cpp", "nothing is peeled",
     "return extent > kTile && rest <= kMostPeeled ? rest : 0;",
     "return extent > kTile && rest < 0 ? rest : 0;"),
    ("backends/cuda/gemm/multistage/multistage_offers.cpp", "the last, partial tile along k is not counted",
     "ceil_div(ceil_div(p.k, std::int64_t(tile.k_depth)), split)",
     "ceil_div(p.k / tile.k_depth, split)"),
    ("backends/cuda/gemm/ordered_chains.hpp", "slices of ordered sums follow from the rows",
     "p.fixed_extent() >= kManyColumns",
     "p.m >= kManyColumns"),
    ("backends/cuda/gemm/bf16_parts.hpp", "slices of ordered sums of parts follow from the rows",
     "std::max<std::int64_t>(p.fixed_extent(), 1)",
     "std::max<std::int64_t>(p.m, 1)"),
    ("backends/cuda/gemm/skinny_parts/skinny_parts_offers.cpp", "warps have other slices than ordered sums",
     "if (p.ordered) return ordered_parts_slice(p);",
     "if (p.ordered && p.m > 16) return ordered_parts_slice(p);"),
    ("backends/cuda/stencil/streaming/axis_fold.hpp", "a point outside on the low side reads that of the high side",
     "return i < 0 ? low : i >= extent_ ? high : 0;",
     "return i < 0 ? high : i >= extent_ ? low : 0;"),
    ("backends/cuda/stencil/temporal/temporal_offers.cpp", "a domain that is a point too short is accepted",
     "std::int64_t least = 2 * taps->radius + 1;",
     "std::int64_t least = 2 * taps->radius;"),
    ("backends/cuda/stencil/streaming/rasterization.hpp", "the rows that do not fill a group are left out",
     "return {tiles[2], plugin::ceil_div(tiles[1], groups), tiles[0], groups};",
     "return {tiles[2], tiles[1] / groups, tiles[0], groups};"),
]
