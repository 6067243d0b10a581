// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil or a system of fields on a domain that is spread over the ranks of a group.
#pragma once

#include "group/agreement.hpp"
#include "stepper.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::distributed {

class DomainPlan {
 public:
  /// Collective. `make` gives the stepper, or throws.
  DomainPlan(std::shared_ptr<Comm> comm, tessera_context* context,
             const std::function<std::unique_ptr<Stepper>()>& make, const tessera_decomposition& wanted,
             const tessera_plan_options& options);

  tessera_block block(int rank) const { return block_of(*cut_, rank); }
  const std::string& description() const { return description_; }
  /// Which array of a state, counted as an execution takes them, holds a level (0 or less) after it.
  int place_after(std::int32_t field, std::int32_t level) const;

  void scatter(std::int32_t field, int root, const void* global, void* local);
  void gather(std::int32_t field, int root, const void* local, void* global);
  void exchange(std::int32_t field, void* local);
  /// `progress` tells whether `execution` could be read.
  void execute(const tessera_execution& execution, Progress& progress);

 private:
  /// Points at an edge of the block beside another rank, whose several steps are made apart.
  struct Edge {
    BoxPlan plan;         ///< from the array into memory of its own
    std::int64_t made;    ///< bytes from that memory's begin to the points that are right
    std::int64_t target;  ///< bytes from the array's begin to where these belong
    std::size_t bytes;    ///< of them
  };
  /// The steps from one exchange to the next: what needs no halo goes first, and beside the exchange.
  struct Stage {
    std::int64_t steps;
    std::vector<BoxPlan> before, after;
    std::vector<Edge> edges;
    std::vector<std::vector<int>> places;  ///< of each field: where its levels are afterwards
  };
  /// A way to take the steps.
  struct Way {
    char algorithm[64] = {};  ///< "": what each rank chooses
    std::int32_t depth = 1;   ///< steps from one exchange to the next
    std::int32_t inner_first = 0;
    double seconds = 0.0;  ///< predicted, of a step
  };
  /// Blocks of a field to or from one rank, packed one by one.
  struct Move {
    std::vector<Message> parts;  ///< of the whole field: the block of each rank
    Message own;                 ///< the block of this rank's array
    std::vector<unsigned char> room;
  };

  void lay_out(const tessera_decomposition& wanted);
  void look_at_context(const tessera_plan_options& options);
  void join(const tessera_decomposition& wanted);
  Box inside() const;
  /// Whether so many steps are made so. A stencil's single steps are, also where a round has one alone.
  bool is_inner_first(const Way& way, std::int64_t steps) const {
    return stepper_->is_in_place() ? way.inner_first != 0 : steps == 1 || messages_.empty();
  }
  std::vector<Box> boxes(bool inner_first) const;

  void choose(tessera_decomposition wanted, const tessera_plan_options& options);
  std::vector<Way> ways(const tessera_decomposition& wanted, const tessera_plan_options& options);
  double seconds_of(const Way& way, const tessera_decomposition& wanted, const tessera_plan_options& options);
  double seconds_of_halos() const;
  void take(const Way& way, const tessera_decomposition& wanted, const tessera_plan_options& options);
  Stage make_stage(const Way& way, std::int64_t steps, const tessera_plan_options& options) const;
  double edge_share(std::int64_t steps) const;
  bool has_edges(std::int64_t steps, const tessera_plan_options& options) const;
  void add_edges(Stage& stage, const tessera_plan_options& options) const;
  void find_places();
  void describe();

  std::size_t checked(std::int32_t field) const;
  Move begin_move(std::int32_t field, int root, const void* global, const void* local,
                  const std::function<void(Move&)>& prepare);
  void scatter_profile(const FieldShape& field, int root, const void* global, void* local);

  const Stage& stage_of(std::int64_t round) const { return round + 1 == rounds_ ? stages_.back() : stages_.front(); }
  const Arrays& travelling(const Operands& operands);
  void step(const std::vector<BoxPlan>& plans, const Operands& operands, std::int64_t first_step) const;
  void run_edges(const Stage& stage, const Operands& operands) const;
  static void move_levels(const Stage& stage, Operands& operands);
  void run_on_one_stream(Operands& operands, Progress& progress);
  void run_on_two_streams(Transport& transport, Operands& operands, Progress& progress);
  void show_halos(Transport& transport, std::int64_t round) const;
  void protect_readers(Transport& transport, const Stage& stage) const;
  Transport& open(const Operands& operands, Progress& progress);
  void wait(tessera_context* later, tessera_context* earlier) const { call(tessera_context_wait_for, later, earlier); }
  /// Of copies between the host and arrays.
  tessera_context* copier() const { return copier_ == nullptr ? context_.get() : copier_.get(); }

  std::shared_ptr<Comm> comm_;
  std::unique_ptr<Stepper> stepper_;
  ContextHandle context_;
  ContextHandle copier_;  ///< where a device has a memory of its own: one with a stream of its own that goes first
  std::optional<Decomposition> cut_;
  Place place_{};
  Messages messages_;                  ///< of an exchange
  std::unique_ptr<Transport> host_;    ///< brings halos where `device_` does not
  std::unique_ptr<Transport> device_;  ///< or null, and why
  std::string why_no_device_;
  Way way_;
  std::int64_t rounds_ = 0;    ///< of exchanges
  std::vector<Stage> stages_;  ///< of all rounds, and where it has fewer steps of the last one
  BufferHandle edges_;
  std::vector<std::vector<int>> places_;  ///< of each field: where its levels are after an execution
  Arrays travelling_;                     ///< room for the arrays of messages
  std::string description_;
};

}  // namespace tessera::distributed
