// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A system of fields on a domain that is spread over the ranks of a group.
#pragma once

#include "attempts.hpp"
#include "halo_carrier.hpp"
#include "recordings.hpp"
#include "system_description.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::distributed {

class SystemPlan {
 public:
  /// Collective.
  SystemPlan(std::shared_ptr<Comm> comm, tessera_context* context, const tessera_system_desc& desc,
             const tessera_decomposition& wishes, const tessera_plan_options& options);

  tessera_block block(int rank) const;
  const std::string& description() const { return text_; }
  /// Which array of a state, counted as an execution takes them, holds a level (0 or less) after it.
  int place_after(std::int32_t field, std::int32_t level) const;

  void scatter(std::int32_t field, int root, const void* global, void* local);
  void gather(std::int32_t field, int root, const void* local, void* global);
  void exchange(std::int32_t field, void* local);
  /// `attempts` tells whether `execution` could be read.
  void execute(const tessera_execution& execution, Attempts& attempts);

 private:
  /// A box that one plan steps.
  struct Piece {
    PlanHandle plan;
    std::size_t recorded;  ///< its place among the recordings' pieces
  };
  /// The steps from one exchange to the next: what needs no halo goes first, and beside the exchange.
  struct Stage {
    std::int64_t steps;
    std::vector<Piece> before, after;
    std::vector<std::vector<int>> places;  ///< of each field: where its levels are afterwards
  };
  /// A way to take the steps.
  struct Way {
    char algorithm[64] = {};  ///< "": what each rank chooses
    std::int32_t depth = 1, parts = 0;
    double seconds = 0.0;  ///< predicted, of a step
  };
  /// The arrays of each field, the newest level first.
  using Arrays = std::vector<std::vector<void*>>;
  struct Arguments {
    Arrays arrays;
    std::vector<void*> injected, recorded;  ///< at the first step's row
  };

  void lay_out(const tessera_decomposition& wishes);
  std::vector<Halos> halos() const;
  void look_at_context(const tessera_plan_options& options);
  Box inside() const;
  std::vector<Box> boxes(const Way& way) const;
  void choose(tessera_decomposition wishes, const tessera_plan_options& options);
  std::vector<Way> ways(tessera_decomposition wishes, const tessera_plan_options& options);
  std::vector<std::string> algorithms(const tessera_plan_options& options) const;
  double seconds_of(const Way& way, const tessera_decomposition& wishes, const tessera_plan_options& options);
  double seconds_of(const Box& made, std::int64_t steps, const tessera_plan_options& options) const;
  void take(const Way& way, const tessera_decomposition& wishes, const tessera_plan_options& options);
  Stage make_stage(const Way& way, std::int64_t steps, const tessera_plan_options& options);
  void find_places();
  void describe();
  std::size_t checked(std::int32_t field) const;
  std::size_t agreed(std::int32_t field);
  void scatter_profile(std::size_t field, int root, const void* global, void* local);
  Arguments arguments(const tessera_execution& execution) const;
  std::vector<void*> travelling(const Arrays& arrays) const;
  const Stage& stage_of(std::int64_t round) const { return round + 1 == rounds_ ? stages_.back() : stages_.front(); }
  void run(const std::vector<Piece>& pieces, const Arguments& given, std::int64_t first_step) const;
  static void turn(const Stage& stage, Arrays& arrays);
  void execute_by_host(Arguments& given, Attempts& attempts);
  void execute_on_device(Arguments& given);

  std::shared_ptr<Comm> comm_;
  std::unique_ptr<SystemDescription> system_;
  std::optional<Decomposition> cut_;
  Array own_{};
  ContextHandle context_;
  bool on_host_ = true;
  std::optional<HaloCarrier> carrier_;
  Way way_;
  std::int64_t rounds_ = 0;    ///< of exchanges
  std::vector<Stage> stages_;  ///< of all rounds, and where it has fewer steps of the last one
  std::unique_ptr<Recordings> recordings_;
  std::vector<std::vector<int>> places_;  ///< of each field: where its levels are after an execution
  std::string text_;
};

}  // namespace tessera::distributed
