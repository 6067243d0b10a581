// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dense_kernel.ipp"
#include "register_block_kernel.ipp"
#include "row_ends.ipp"
#include "row_kernel.ipp"

namespace tessera::cpu {

template void apply_row(const double*, std::int64_t, const RowTaps<double>&, double, double*, std::int64_t,
                        std::int64_t);
template void apply_row_nontemporal(const double*, const RowTaps<double>&, double, double*, std::int64_t, const double*,
                                    const LinesApart<double>&);
template void apply_line(const double*, const RowTaps<double>&, double, double*);
template void apply_row_ends(const EndRows<double>&, const Outside<double>&, std::int64_t, std::int64_t, std::int64_t,
                             const EndValues<double>&);
template void apply_row_block(const RowBlock<double>&, const StridedGroups<double>&, PrefetchQueue<double>*);
template void apply_row_block_nontemporal(const RowBlock<double>&, const StridedGroups<double>&, const Edges<double>&,
                                          const double*);
template void apply_dense_block(const DenseBlock<double>&);

}  // namespace tessera::cpu
