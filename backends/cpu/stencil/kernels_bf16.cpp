// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "narrow_row_kernel.ipp"
#include "row_ends.ipp"

namespace tessera::cpu {

template <>
void apply_row(const bfloat16* in, std::int64_t in_stride, const RowTaps<bfloat16>& taps, Scalar<bfloat16> init,
               bfloat16* out, std::int64_t out_stride, std::int64_t n) {
  apply_narrow_row(in, in_stride, taps, init, out, out_stride, n);
}
void apply_row_nontemporal(const bfloat16* in, const RowTaps<bfloat16>& taps, Scalar<bfloat16> init, bfloat16* out,
                           std::int64_t n, const bfloat16* newest, const LinesApart<bfloat16>& apart) {
  sum_points<bfloat16, To::memory>(in, taps, init, out, newest, n, apart);
}
template <>
void apply_line(const bfloat16* in, const RowTaps<bfloat16>& taps, Scalar<bfloat16> init, bfloat16* out) {
  sum_points<bfloat16, To::cache>(in, taps, init, out, nullptr, std::int64_t(kLineBytes / sizeof(bfloat16)));
}
template void apply_row_ends(const EndRows<bfloat16>&, const Outside<bfloat16>&, std::int64_t, std::int64_t,
                             std::int64_t, const EndValues<bfloat16>&);

}  // namespace tessera::cpu
