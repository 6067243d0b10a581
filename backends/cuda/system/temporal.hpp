// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Several steps of a star in one pass over memory: what the kernel is told, and how a plan launches it.
#pragma once

#include "meetings.hpp"
#include "temporal_layout.hpp"

#include <tessera/plugin/system_star.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::cuda {

/// An injection or a recording at a point of a tile, in the order in which they come.
struct WavePoint {
  int x, y;
  int set;             ///< the injection's; -1: a recording
  std::int64_t index;  ///< of the series; of a recording its place among what is recorded in a step
  double weight;
};

/// What the blocks of a pass are told.
template <class T>
struct WavePass {
  WaveLayout layout;
  int nx, ny, nz;
  std::ptrdiff_t plane;    ///< nx * ny
  int depth;               ///< steps
  const T *u, *v, *a;      ///< the newest level, the one before it, the array, those that the form has
  T *newest, *previous;    ///< the levels that the pass makes: none of the above; null: not the one before
  const T* profiles[3];    ///< along x, y, z; null: 1
  T front, centre, other;  ///< of u in front of the star and in it, of v
  T x[2 * plugin::kMostStarRadius], y[2 * plugin::kMostStarRadius],
      z[2 * plugin::kMostStarRadius];  ///< as in StarSystem
  const WavePoint* points;             ///< by tile, by plane
  const int* first;  ///< for each tile: where those of plane 0, 1, ... begin, and where they end; or null
  struct Series {
    const T* data;  ///< of the pass's first step
    std::int64_t count;
  } series[TESSERA_MAX_POINT_SETS];
  T* recorded;  ///< a row a step
  std::int64_t recordings;
  Meetings meetings;
};

/// A pass over a domain with a star's coefficients, without arrays.
template <class T>
WavePass<T> wave_pass(const StarSystem& star, std::span<const std::int64_t, 3> extents) {
  WavePass<T> pass{};
  pass.nx = int(extents[2]), pass.ny = int(extents[1]), pass.nz = int(extents[0]);
  pass.plane = std::ptrdiff_t(pass.nx) * pass.ny;
  pass.front = T(star.centre[0]), pass.centre = T(star.centre[1]), pass.other = T(star.other_coefficient);
  for (int i = 0; i < 2 * star.radius; ++i)
    pass.z[i] = T(star.taps[0][i]), pass.y[i] = T(star.taps[1][i]), pass.x[i] = T(star.taps[2][i]);
  return pass;
}

/// Whether rows of all arrays begin at multiples of 16 bytes.
template <class T>
bool is_aligned(const WavePass<T>& pass) {
  std::uintptr_t bits = std::uintptr_t(pass.nx) * sizeof(T);
  const void* const arrays[] = {pass.u, pass.v, pass.a, pass.newest, pass.previous};
  for (const void* array : arrays) bits |= reinterpret_cast<std::uintptr_t>(array);
  return bits % 16 == 0;
}

/// A kernel for a type, a form, and rows that begin at multiples of 16 bytes or not.
template <class T>
struct WaveKernel {
  void (*prepare)(int shared_limit) = nullptr;
  void (*run)(const WavePass<T>& pass, cudaStream_t stream) = nullptr;
};

/// Those of a type and a radius: instantiated in files of their own.
template <class T, int kRadius>
WaveKernel<T> wave_kernel_of(StarForm form, bool aligned, bool profiles);

/// None where the plugin has no code for Hopper.
template <class T>
WaveKernel<T> wave_kernel([[maybe_unused]] int radius, [[maybe_unused]] StarForm form, [[maybe_unused]] bool aligned,
                          [[maybe_unused]] bool profiles) {
#if defined(TESSERA_CUDA_SM90A)
  if (wave_depth<T>(radius) == 0) return {};
  return with_wave_radius(radius, [&](auto r) -> WaveKernel<T> {
    if constexpr (wave_depth<T>(r) > 0)
      return wave_kernel_of<T, r>(form, aligned, profiles);
    else
      return {};
  });
#else
  return {};
#endif
}

}  // namespace tessera::cuda
