// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil on a domain that is spread over the ranks of a group.
#pragma once

#include "arrays.hpp"
#include "comm.hpp"
#include "decomposition.hpp"
#include "exchange.hpp"
#include "handles.hpp"

#include <cstdint>
#include <exception>
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

  int ranks() const { return comm_->size(); }
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
  /// One of the steps between two exchanges: what needs no halo goes first, and beside the exchange.
  struct Stage {
    std::vector<Piece> before, after;
  };

  Array array_of(int rank) const;
  void read(const tessera_stencil_desc& desc);
  void check_alike(const tessera_decomposition& wishes, const char* algorithm);
  Box inside(const Box& outer) const;
  Stage make_stage(const Box& outer, bool exchanged, const tessera_plan_options& options) const;
  Piece make_piece(const Box& box, const tessera_plan_options& options) const;
  void make_stages(const tessera_plan_options& options);
  void describe();
  /// Runs `body` unless something has failed before; what it throws is kept until the execution ends.
  template <class Body>
  void attempt(Body&& body);
  void run(const std::vector<Piece>& pieces, const void* in, void* out);
  void step(const Stage& stage, bool exchanged, void* in, void* out);
  void begin_move(int root, const void* global, const void* local, const char* name);

  std::shared_ptr<Comm> comm_;
  tessera_stencil_desc desc_{};
  std::vector<tessera_tap> taps_;
  Domain domain_;
  std::optional<Decomposition> cut_;
  Array own_{};
  ContextHandle context_;
  ContextHandle copier_;  ///< for halos: where a device has a memory of its own, one with a stream of its own
  bool on_host_ = true;
  std::optional<Exchange> exchange_;
  std::vector<Stage> stages_;
  BufferHandle scratch_;
  std::exception_ptr failure_;        ///< of this execution
  std::vector<unsigned char> moved_;  ///< a block on its way to or from the root
  std::string description_;
};

}  // namespace tessera::distributed
