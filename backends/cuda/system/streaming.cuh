// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The kernel of "streaming" and its launch. A block owns a column of tile_x * tile_y points and goes along z. One of
/// its threads fills a ring of planes in shared memory by bulk copies; the others make the points. They meet at
/// barriers alone.
#pragma once

#include "../launch.cuh"
#include "streaming_consumer.cuh"
#include "streaming_kernels.hpp"
#include "streaming_producer.cuh"

#include <algorithm>
#include <cstdint>

namespace tessera::cuda {

template <class Layout>
__global__ void __launch_bounds__(Layout::kThreads, 1)
    system_streaming_kernel(const __grid_constant__ StreamingStep<typename Layout::T, Layout::kRadius> step,
                            const __grid_constant__ StreamingMaps<Layout::kClasses> maps) {
  extern __shared__ unsigned char memory[];
  const std::uint32_t shared = (shared_address(memory) + 127u) & ~127u;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Layout::kDepth; ++stage) {
      barrier_init(shared + std::uint32_t(stage) * 16, 1);
      barrier_init(shared + std::uint32_t(stage) * 16 + 8, Layout::kConsumers / 32);
    }
    barriers_ready();
  }
  __syncthreads();
  const int x = int(blockIdx.x) * Layout::Tile::kX, y = int(blockIdx.y) * Layout::Tile::kY;
  const int z = step.first + int(blockIdx.z) * step.planes, steps = min(step.planes, step.last - z);
  if (threadIdx.x >= Layout::kConsumers) {
    give_registers<Layout::kProducerRegisters>();
    if (threadIdx.x == Layout::kConsumers)
      StreamingProducer<Layout>{step, maps, shared, x, y, policy_keep(), policy_normal()}.run(z, steps);
  } else {
    take_registers<Layout::kConsumerRegisters>();
    StreamingConsumer<Layout>(step, shared, x, y, int(threadIdx.x)).run(z, steps);
  }
}

namespace detail {

/// The tensors of one array: a box of `width` by `rows` from each.
template <class T, int kClasses>
void take_maps(CUtensorMap (&maps)[kClasses], TensorMap (&known)[4], const T* array, const StreamingArrays<T>& a,
               int width, int rows) {
  const std::int64_t row_bytes = std::int64_t(a.nx) * std::int64_t(sizeof(T));
  if constexpr (kClasses == 1) {
    const BoxedTensor tensor{array, a.nx, a.ny, a.nz, row_bytes, row_bytes * a.ny, rows, int(sizeof(T)), width};
    maps[0] = known[0].of(tensor);
  } else {
    const std::int64_t all = std::int64_t(a.ny) * a.nz;
    for (int c = 0; c < kClasses; ++c) {
      const auto first =
          reinterpret_cast<std::uintptr_t>(array + std::int64_t(std::min<std::int64_t>(c, all - 1)) * a.nx);
      const std::uintptr_t begin = first / 16 * 16;
      const auto late = std::int64_t(first - begin) / std::int64_t(sizeof(T));
      const std::int64_t count = std::max<std::int64_t>((all - c + kClasses - 1) / kClasses, 1);
      const BoxedTensor tensor{reinterpret_cast<const void*>(begin),
                               a.nx + late,
                               count,
                               1,
                               kClasses * row_bytes,
                               kClasses * row_bytes,
                               rows,
                               int(sizeof(T)),
                               width};
      maps[c] = known[c].of(tensor);
    }
  }
}

template <class Layout>
void run_streaming(const StarSystem& star, const StreamingArrays<typename Layout::T>& a, StreamingTensors& tensors,
                   cudaStream_t stream) {
  using T = typename Layout::T;
  StreamingStep<T, Layout::kRadius> step{a.nx,   a.ny, a.nz, a.first,   a.last, a.planes,
                                         a.next, a.u,  {},   {},        {},     T(star.other_coefficient),
                                         {},     {},   {},   a.meetings};
  for (int i = 0; i < 3; ++i) step.streams[i] = a.streams[i], step.profiles[i] = a.profiles[i];
  for (int i = 0; i < 2; ++i) step.centre[i] = T(star.centre[i]);
  for (int i = 0; i < 2 * Layout::kRadius; ++i)
    step.z[i] = T(star.taps[0][i]), step.y[i] = T(star.taps[1][i]), step.x[i] = T(star.taps[2][i]);
  StreamingMaps<Layout::kClasses> maps;
  take_maps<T>(maps.u, tensors[0], a.u, a, Layout::kWidth, Layout::kBoxRows);
  for (int s = 0; s < Layout::kStreams; ++s)
    take_maps<T>(maps.streams[s], tensors[1 + s], a.streams[s], a, Layout::kStreamWidth, Layout::kStreamBoxRows);
  const auto tiles = [](int points, int size) { return unsigned((points + size - 1) / size); };
  const dim3 grid(tiles(a.nx, Layout::Tile::kX), tiles(a.ny, Layout::Tile::kY), tiles(a.last - a.first, a.planes));
  launch(system_streaming_kernel<Layout>, grid, Layout::kThreads, Layout::kSharedBytes, stream, step, maps);
}

template <class T, int kRadius, StarForm kForm, bool kAligned>
StreamingKernel<T> kernel_of() {
  using Layout = StreamingLayout<T, kRadius, kForm, kAligned>;
  return {[](int shared_limit) { cuda::prepare(system_streaming_kernel<Layout>, shared_limit); }, run_streaming<Layout>,
          Layout::Tile::kX, Layout::Tile::kY, Layout::kSharedBytes};
}

}  // namespace detail

template <class T, int kRadius>
StreamingKernel<T> streaming_kernel_of(StarForm form, bool aligned) {
  const auto choose = [aligned]<StarForm kForm>() {
    return aligned ? detail::kernel_of<T, kRadius, kForm, true>() : detail::kernel_of<T, kRadius, kForm, false>();
  };
  switch (form) {
    case StarForm::heat:
      return choose.template operator()<StarForm::heat>();
    case StarForm::wave:
      return choose.template operator()<StarForm::wave>();
    case StarForm::heat_medium:
      return choose.template operator()<StarForm::heat_medium>();
    case StarForm::wave_medium:
      return choose.template operator()<StarForm::wave_medium>();
    default:
      return choose.template operator()<StarForm::wave_damped>();
  }
}

}  // namespace tessera::cuda
