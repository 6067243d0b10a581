// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dense_kernel.ipp"
#include "register_block_kernel.ipp"
#include "row_ends.ipp"
#include "row_kernel.ipp"

namespace tessera::cpu {

template void apply_row(const float*, std::int64_t, const RowTaps<float>&, float, float*, std::int64_t, std::int64_t);
template void apply_row_nontemporal(const float*, const RowTaps<float>&, float, float*, std::int64_t, const float*,
                                    const LinesApart<float>&);
template void apply_line(const float*, const RowTaps<float>&, float, float*);
template void apply_row_ends(const EndRows<float>&, const Outside<float>&, std::int64_t, std::int64_t, std::int64_t,
                             const EndValues<float>&);
template void apply_row_block(const RowBlock<float>&, const StridedGroups<float>&, PrefetchQueue<float>*);
template void apply_row_block_nontemporal(const RowBlock<float>&, const StridedGroups<float>&, const Edges<float>&,
                                          const float*);
template void apply_dense_block(const DenseBlock<float>&);

}  // namespace tessera::cpu
