// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The launch of "temporal" for systems, and the choice of a kernel. Instantiated by type in files of their own.
#pragma once

#include "temporal.cuh"

namespace tessera::cuda {

namespace detail {

template <class Block>
WaveKernel<typename Block::T> wave_block() {
  return {[](int shared_limit) { prepare(system_temporal_kernel<Block>, shared_limit); },
          [](const WavePass<typename Block::T>& pass, cudaStream_t stream) {
            const dim3 grid(unsigned(pass.layout.tiles), unsigned(pass.layout.chunks));
            launch(system_temporal_kernel<Block>, grid, Block::Tile::kThreads, Block::kSharedBytes, stream, pass);
          }};
}

template <class T, int kRadius, StarForm kForm>
WaveKernel<T> wave_form(bool aligned, bool profiles) {
  if (!aligned) return wave_block<WaveBlock<T, kRadius, kForm, false, true>>();
  return profiles ? wave_block<WaveBlock<T, kRadius, kForm, true, true>>()
                  : wave_block<WaveBlock<T, kRadius, kForm, true, false>>();
}

}  // namespace detail

template <class T, int kRadius>
WaveKernel<T> wave_kernel_of(StarForm form, bool aligned, bool profiles) {
  switch (form) {
    case StarForm::heat:
      return detail::wave_form<T, kRadius, StarForm::heat>(aligned, profiles);
    case StarForm::wave:
      return detail::wave_form<T, kRadius, StarForm::wave>(aligned, profiles);
    case StarForm::heat_medium:
      return detail::wave_form<T, kRadius, StarForm::heat_medium>(aligned, profiles);
    default:
      return detail::wave_form<T, kRadius, StarForm::wave_medium>(aligned, profiles);
  }
}

}  // namespace tessera::cuda
