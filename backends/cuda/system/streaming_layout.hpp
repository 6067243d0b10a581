// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The tiles of the algorithm "streaming": what a block holds, and what its kernels are told.
#pragma once

#include "meetings.hpp"

#include <cuda.h>
#include <tessera/plugin/system_star.hpp>

#include <cstdint>

namespace tessera::cuda {

using plugin::StarForm;
using plugin::StarSystem;

/// x * y points a block, in planes along the first axis; so many rows a thread, and planes in flight. Aligned: rows and
/// arrays begin at multiples of 16 bytes. Measured on an H100: deeper rings and wider tiles lose their halos from the
/// second-level cache before the neighbours read them.
template <class T, bool kAlignedRows>
struct StreamingTile {
  static constexpr bool kAligned = kAlignedRows;
  static constexpr int kX = sizeof(T) == 4 ? 64 : 32, kY = 32;
  static constexpr int kRows = kAligned ? 1 : 2, kDepth = 3;
};

/// The shared memory and the threads of a block. A ring holds planes of u with a halo, and planes of the streams
/// without one. Where rows are not aligned, rows kVector apart are, so each array is kClasses tensors, one for rows of
/// each class modulo kVector, from the 16 bytes on in which its first row begins. A row then lies up to kVector - 1
/// elements late in its place.
template <class TypeValue, int kRadiusValue, StarForm kFormValue, bool kAlignedRows>
struct StreamingLayout {
  using T = TypeValue;
  using Tile = StreamingTile<T, kAlignedRows>;
  static constexpr int kRadius = kRadiusValue;
  static constexpr StarForm kForm = kFormValue;
  static constexpr int kSize = int(sizeof(T)), kVector = 16 / kSize;
  static constexpr bool kOther = has_other(kForm), kArray = has_array(kForm), kDamping = has_damping(kForm);
  static constexpr int kStreams = streams_of(kForm), kSums = kArray ? 2 : 1;
  static constexpr int kHaloVectors = (kRadius + kVector - 1) / kVector, kHalo = kHaloVectors * kVector;
  static constexpr int kClasses = Tile::kAligned ? 1 : kVector, kLate = Tile::kAligned ? 0 : kVector;
  static constexpr int kWidth = Tile::kX + 2 * kHalo + kLate, kHeight = Tile::kY + 2 * kRadius;
  static constexpr int kStreamWidth = Tile::kX + kLate;
  static constexpr int kPitch = kWidth * kSize, kStreamPitch = kStreamWidth * kSize;
  static constexpr int kBoxRows = (kHeight + kClasses - 1) / kClasses, kStreamBoxRows = Tile::kY / kClasses;
  static constexpr int kPlaneBytes = kPitch * kBoxRows * kClasses, kStreamBytes = kStreamPitch * Tile::kY;
  static constexpr int rounded(int bytes) { return (bytes + 127) / 128 * 128; }
  static constexpr int kClassBytes = rounded(kPitch * kBoxRows), kSlotBytes = kClassBytes * kClasses;
  static constexpr int kStreamClassBytes = rounded(kStreamPitch * kStreamBoxRows);
  static constexpr int kStreamSlotBytes = kStreamClassBytes * kClasses;
  static constexpr int kDepth = Tile::kDepth, kSlots = kDepth + kRadius;
  static constexpr int kFirstSlot = 256;  ///< behind the barriers
  static constexpr int kFirstStream = kFirstSlot + kSlots * kSlotBytes;
  static constexpr int kSharedBytes = kFirstStream + kDepth * kStreams * kStreamSlotBytes + 128;
  static constexpr int kLanes = Tile::kAligned ? Tile::kX / kVector : 32;  ///< threads of a row
  static constexpr int kPoints = Tile::kX / kLanes;                        ///< of a thread in a row
  static constexpr int kGap = Tile::kAligned ? 1 : 32;                     ///< from one of them to the next
  static constexpr int kConsumers = kLanes * (Tile::kY / Tile::kRows), kProducers = 128;
  static constexpr int kThreads = kConsumers + kProducers;
  static constexpr int kPool = 65536 / kThreads / 8 * 8 * kThreads;  ///< registers
  static constexpr int kProducerRegisters = Tile::kAligned ? 24 : 32;
  static constexpr int kShare = (kPool - kProducers * kProducerRegisters) / kConsumers / 8 * 8;
  static constexpr int kConsumerRegisters = kShare < 240 ? kShare : 240;
  /// Divides 2 kRadius + 1, so that most shifts of the queue of values are only names.
  static constexpr int kUnroll = kRadius == 1 || kRadius == 4 ? 3 : 2 * kRadius + 1;
  static_assert(kDepth >= 2 && kSharedBytes <= 226 * 1024, "a block's memory");
  static_assert(Tile::kY % kClasses == 0, "a tile holds whole sets of classes");
  static_assert(32 % kLanes == 0, "a warp holds whole rows");
  static_assert(kConsumers % 128 == 0 && Tile::kY % Tile::kRows == 0, "whole warpgroups");
};

/// What all blocks of a step are told.
template <class T, int kRadius>
struct StreamingStep {
  int nx, ny, nz;
  int first, last;  ///< planes that are made: [first, last)
  int planes;       ///< that a block makes
  T* next;          ///< may be `other`
  const T* u;
  const T* streams[3];   ///< the other state, the array, the damping, those that the form has
  const T* profiles[3];  ///< along x, y, z; null: 1
  T centre[2], other;
  T x[2 * kRadius], y[2 * kRadius], z[2 * kRadius];  ///< offsets -kRadius to -1, 1 to kRadius
  Meetings meetings;
};

/// Tensors of u and of the streams.
template <int kClasses>
struct StreamingMaps {
  CUtensorMap u[kClasses], streams[3][kClasses];
};

}  // namespace tessera::cuda
