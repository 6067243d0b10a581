// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "row_ends.ipp"
#include "row_kernel.ipp"

namespace tessera::cpu {

template void apply_row(const bfloat16*, std::int64_t, const RowTaps<bfloat16>&, Scalar<bfloat16>, bfloat16*,
                        std::int64_t, std::int64_t);
template void apply_row_nontemporal(const bfloat16*, const RowTaps<bfloat16>&, Scalar<bfloat16>, bfloat16*,
                                    std::int64_t, const bfloat16*, const LinesApart<bfloat16>&);
template void apply_line(const bfloat16*, const RowTaps<bfloat16>&, Scalar<bfloat16>, bfloat16*);
template void apply_row_ends(const EndRows<bfloat16>&, const Outside<bfloat16>&, std::int64_t, std::int64_t,
                             std::int64_t, const EndValues<bfloat16>&);

}  // namespace tessera::cpu
