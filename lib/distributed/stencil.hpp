// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil on a domain that is spread over the ranks of a group.
#pragma once

#include "arrays.hpp"
#include "attempts.hpp"
#include "comm.hpp"
#include "decomposition.hpp"
#include "halo_carrier.hpp"
#include "handles.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::distributed {

class StencilPlan {
 public:
  /// Collective.
  StencilPlan(std::shared_ptr<Comm> comm, tessera_context* context, const tessera_stencil_desc& desc,
              const tessera_decomposition& wishes, const tessera_plan_options& options);

  tessera_block block(int rank) const;
  const std::string& description() const { return description_; }

  void scatter(int root, const void* global, void* local);
  void gather(int root, const void* local, void* global);
  void execute(void* in, void* out);

 private:
  /// A box of the block that one plan computes.
  struct Piece {
    std::int64_t offset;  ///< bytes from the array's begin
    PlanHandle plan;
  };
  /// Points beside another rank whose several steps are made apart: what is at the ends of the box is wrong.
  struct Rim {
    Piece piece;          ///< from the array into memory of its own
    std::int64_t made;    ///< bytes from that memory's begin to where the piece writes its first point
    std::int64_t right;   ///< and to the points that are right
    std::int64_t target;  ///< bytes from the array's begin to where these belong
    std::size_t bytes;    ///< of them
  };
  /// The steps from one exchange to the next: what needs no halo goes first, and beside the exchange.
  struct Stage {
    std::vector<Piece> before, after;
    std::vector<Rim> rims;
  };

  /// Whether halos travel at all.
  bool exchanges() const { return desc_.steps > 0 && !halos_.empty(); }
  void read(const tessera_stencil_desc& desc);
  void check_alike(const tessera_decomposition& wishes, const char* algorithm);
  Box inside() const;
  tessera_stencil_desc part(const Box& box, std::int64_t steps) const;
  void lay_out(const tessera_decomposition& wishes);
  int choose_depth(tessera_decomposition wishes, const tessera_plan_options& options);
  double seconds_of(const Box& box, std::int64_t steps, const tessera_plan_options& options) const;
  double seconds_of_halos() const;
  double seconds_of_round(const tessera_plan_options& options) const;
  Stage make_stage(std::int64_t steps, const tessera_plan_options& options) const;
  bool has_rims(std::int64_t steps, const tessera_plan_options& options) const;
  double rim_share(std::int64_t steps) const;
  Stage make_rims(std::int64_t steps, const tessera_plan_options& options) const;
  Piece make_piece(tessera_context* context, const Box& box, std::int64_t steps,
                   const tessera_plan_options& options) const;
  void look_at_context(const tessera_plan_options& options);
  void make_stages(const tessera_plan_options& options);
  void describe();
  void run(const std::vector<Piece>& pieces, const void* in, void* out) const;
  void run_piece(const Piece& piece, const void* in, void* out) const;
  void step(const Stage& stage, void* in, void* out, Attempts& attempts);
  /// The stage of a round, and the array that it writes.
  const Stage& stage_of(std::int64_t round) const { return round + 1 == rounds_ ? stages_.back() : stages_.front(); }
  void* target_of(std::int64_t round, void* out) const {
    return (rounds_ - 1 - round) % 2 == 0 ? out : tessera_buffer_data(scratch_.get());
  }
  void queue_round(std::int64_t round, void* from, void* to);
  void execute_on_device(void* in, void* out);
  void run_rims(const Stage& stage, const void* from, void* to);

  std::shared_ptr<Comm> comm_;
  tessera_stencil_desc desc_{};
  std::vector<tessera_tap> taps_;
  Domain domain_;
  std::optional<Decomposition> cut_;
  Array own_{};
  ContextHandle context_;
  bool on_host_ = true;
  Halos halos_{};
  std::optional<HaloCarrier> carrier_;
  std::int64_t depth_ = 1;     ///< steps from one exchange to the next
  std::int64_t rounds_ = 1;    ///< of exchanges
  std::vector<Stage> stages_;  ///< of all rounds, and where it has fewer steps of the last one
  BufferHandle scratch_, rims_;
  std::string description_;
};

}  // namespace tessera::distributed
