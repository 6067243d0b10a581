// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "narrow_row_kernel.ipp"
#include "row_ends.ipp"

namespace tessera::cpu {

template <>
void apply_row(const float16* in, std::int64_t in_stride, const RowTaps<float16>& taps, Scalar<float16> init,
               float16* out, std::int64_t out_stride, std::int64_t n) {
  apply_narrow_row(in, in_stride, taps, init, out, out_stride, n);
}
void apply_row_nontemporal(const float16* in, const RowTaps<float16>& taps, Scalar<float16> init, float16* out,
                           std::int64_t n, const float16* newest, const LinesApart<float16>& apart) {
  sum_points<float16, To::memory>(in, taps, init, out, newest, n, apart);
}
template <>
void apply_line(const float16* in, const RowTaps<float16>& taps, Scalar<float16> init, float16* out) {
  sum_points<float16, To::cache>(in, taps, init, out, nullptr, std::int64_t(kLineBytes / sizeof(float16)));
}
template void apply_row_ends(const EndRows<float16>&, const Outside<float16>&, std::int64_t, std::int64_t, std::int64_t,
                             const EndValues<float16>&);

}  // namespace tessera::cpu
