// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Series that the ranks of a group record together.
#pragma once

#include "group/agreement.hpp"
#include "handles.hpp"
#include "system_description.hpp"

#include <tessera/dtype.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tessera::distributed {

/// A rank records what lies in its boxes. A series all of whose points lie in one box comes from there; of others the
/// points come one by one, and each rank adds them in the list's order, by fused multiply-adds as all backends do.
class Recordings {
 public:
  /// Collective. `boxes` are what this rank makes by a plan each.
  Recordings(Comm& comm, tessera_context* context, const SystemDescription& system, const std::vector<Box>& boxes)
      : system_(system), context_(context), element_(std::int64_t(size_of(DType(system.desc().dtype)))) {
    std::vector<Slot> mine;
    for (const Box& box : boxes) {
      Piece& piece = pieces_.emplace_back();
      piece.slots = system.slots(box);
      mine.insert(mine.end(), piece.slots.begin(), piece.slots.end());
    }
    std::array<std::int64_t, 1> most{std::int64_t(mine.size())};
    comm.all_reduce(most);
    most_ = most[0];
    mine.resize(std::size_t(most_), Slot{-1, 0, 0});
    all_.resize(std::size_t(most_) * std::size_t(comm.size()));
    if (most_ > 0) comm.all_gather(mine.data(), all_.data(), mine.size() * sizeof(Slot));
    together(comm, [&] {
      for (Piece& piece : pieces_) {
        std::int64_t elements = 0;
        for (std::size_t set = 0; set < system.recordings().size(); ++set) {
          piece.begin.push_back(elements);
          elements += system.desc().steps * std::int64_t(piece.width(set));
        }
        if (elements > 0) piece.buffer = make_buffer(context, elements * element_);
      }
    });
  }

  /// Where a piece records a set: rows of all steps.
  void* array(std::size_t piece, std::size_t set) const {
    const Piece& p = pieces_[piece];
    return p.buffer == nullptr ? nullptr : at(tessera_buffer_data(p.buffer.get()), p.begin[set] * element_);
  }

  /// Collective, behind an execution: writes all series on all ranks, from the first step's row on.
  void gather(Comm& comm, const std::vector<void*>& series) const {
    with_types<WideTypes>(system_.desc().dtype, [&]<class T>(std::type_identity<T>) { gather_as<T>(comm, series); });
  }

 private:
  struct Piece {
    std::vector<Slot> slots;
    std::vector<std::int64_t> begin;  ///< of each set in the buffer, in elements
    BufferHandle buffer;

    std::size_t width(std::size_t set) const {
      return std::size_t(
          std::count_if(slots.begin(), slots.end(), [set](const Slot& slot) { return slot.set == std::int64_t(set); }));
    }
  };

  /// Values travel slot by slot, each with all of its steps.
  template <class T>
  void gather_as(Comm& comm, const std::vector<void*>& series) const {
    const auto steps = std::size_t(system_.desc().steps);
    if (steps == 0) return;
    std::vector<T> mine, all;
    together(comm, [&] {
      mine.resize(std::size_t(most_) * steps), all.resize(mine.size() * std::size_t(comm.size()));
      T* slot = mine.data();
      for (std::size_t piece = 0; piece < pieces_.size(); ++piece)
        for (std::size_t set = 0; set < series.size(); ++set) slot = bring(piece, set, slot);
    });
    if (most_ > 0) comm.all_gather(mine.data(), all.data(), mine.size() * sizeof(T));
    together(comm, [&] {
      for (std::size_t set = 0; set < series.size(); ++set) {
        const std::vector<T> rows = assembled(set, all);
        if (!rows.empty())
          copy_bytes(context_, series[set], rows.data(), std::int64_t(rows.size()) * element_, TESSERA_COPY_TO_DEVICE);
      }
    });
  }

  /// What a piece has recorded of a set, slot by slot. Returns where the next one goes.
  template <class T>
  T* bring(std::size_t piece, std::size_t set, T* slot) const {
    const auto steps = std::size_t(system_.desc().steps);
    const std::size_t width = pieces_[piece].width(set);
    if (width == 0) return slot;
    std::vector<T> rows(width * steps);
    copy_bytes(context_, rows.data(), array(piece, set), std::int64_t(rows.size()) * element_, TESSERA_COPY_TO_HOST);
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t n = 0; n < steps; ++n) *slot++ = rows[n * width + i];
    return slot;
  }

  /// The rows of a set out of the slots of all ranks.
  template <class T>
  std::vector<T> assembled(std::size_t set, const std::vector<T>& all) const {
    const auto steps = std::size_t(system_.desc().steps);
    const PointSet& points = system_.recordings()[set];
    const auto width = std::size_t(points.series_count);
    std::vector<T> rows(width * steps), values(points.places.size() * steps);
    std::vector<char> whole(width, 0);
    for (std::size_t s = 0; s < all_.size(); ++s) {
      if (all_[s].set != std::int64_t(set)) continue;
      const auto id = std::size_t(all_[s].id);
      if (all_[s].whole != 0) whole[id] = 1;
      for (std::size_t n = 0; n < steps; ++n)
        (all_[s].whole != 0 ? rows[n * width + id] : values[id * steps + n]) = all[s * steps + n];
    }
    for (std::size_t e = 0; e < points.places.size(); ++e) {
      const auto i = std::size_t(points.series[e]);
      if (whole[i] != 0) continue;
      for (std::size_t n = 0; n < steps; ++n) {
        T& sum = rows[n * width + i];
        sum = std::fma(T(points.weights[e]), values[e * steps + n], sum);
      }
    }
    return rows;
  }

  const SystemDescription& system_;
  tessera_context* context_;
  std::int64_t element_;
  std::vector<Piece> pieces_;
  std::vector<Slot> all_;  ///< of all ranks, each as many as the largest has: set = -1 where there is none
  std::int64_t most_ = 0;  ///< slots of a rank
};

}  // namespace tessera::distributed
