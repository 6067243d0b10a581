// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "row_ends.ipp"
#include "row_kernel.ipp"

namespace tessera::cpu {

template void apply_row(const float16*, std::int64_t, const RowTaps<float16>&, Scalar<float16>, float16*, std::int64_t,
                        std::int64_t);
template void apply_row_nontemporal(const float16*, const RowTaps<float16>&, Scalar<float16>, float16*, std::int64_t,
                                    const float16*, const LinesApart<float16>&);
template void apply_line(const float16*, const RowTaps<float16>&, Scalar<float16>, float16*);
template void apply_row_ends(const EndRows<float16>&, const Outside<float16>&, std::int64_t, std::int64_t, std::int64_t,
                             const EndValues<float16>&);

}  // namespace tessera::cpu
