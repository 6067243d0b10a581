// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A case over ranks, beside the plans of one rank that it is made of.
#pragma once

#include "blocks.hpp"
#include "fixture.hpp"
#include "station.hpp"

#include <algorithm>

namespace tessera::perf {

/// Seed of the operands: the elements of a rank's blocks are those of Fixture's whole arrays.
inline constexpr std::uint64_t kScaledSeed = 20;

/// A rank's own plan of a packed problem, and its operands.
struct OwnPlan {
  OwnPlan(const Station& station, const Problem& problem, const std::string& algorithm = "");
  void execute() { fixture.execute(prepared.execute, 0, true); }

  Fixture fixture;
  Prepared prepared;
};

/// What cases of all operations have in common.
class ScaledCase {
 public:
  virtual ~ScaledCase() = default;
  /// Measures the plan of all ranks once it was found right, then one rank's own, then peers.
  void run();

 protected:
  ScaledCase(const Station& station, const ScalingCase& c)
      : s_(station), case_(c), whole_(c.whole(station.group.size())) {}

  virtual void make() = 0;     ///< plan and operands
  virtual void execute() = 0;  ///< the plan of all ranks
  /// Of the execution before: the largest error relative to its bound; throws where one is larger.
  virtual double checked() = 0;
  virtual std::string describe() const = 0;  ///< the plan of all ranks
  virtual std::vector<std::pair<std::string, double>> counters() const { return {}; }
  virtual void add_peers() {}

  std::string title() const {
    return "distributed/" + case_.name(s_.group.size()) + "/" + whole_.kind.name() + "/cold";
  }
  bool is_weak() const { return case_.scaling == Scaling::weak; }

  const Station& s_;
  const ScalingCase& case_;
  Problem whole_;
  std::vector<Subject> subjects_;

 private:
  void add_own();
};

/// A domain whose first axis is cut.
class ScaledDomain : public ScaledCase {
 public:
  ScaledDomain(const Station& station, const ScalingCase& c)
      : ScaledCase(station, c),
        extents_(whole_.op == Op::system ? extents_of(whole_.system) : extents_of(whole_.stencil)) {}

 protected:
  virtual Block block_of(int rank) const = 0;
  Block own_block() const { return block_of(s_.group.rank()); }
  /// Where this rank's block is in the whole, and in its array.
  BlockOfWhole part() const;
  std::shared_ptr<void> poisoned_block() const;  ///< an array for a block
  /// One whose points get the elements of an operand of the whole.
  std::shared_ptr<void> filled_block(std::uint64_t seed, Range range = {}) const;
  /// Collective. What one rank's plan makes of the whole, of so many bytes, at some places of this rank's block, within
  /// that bound.
  void find_reference(const std::string& algorithm, double bytes, double bound);
  /// Collective. The largest error of the block in an array relative to the bound; throws where one is larger.
  double compared(const void* array, const Block& block);
  /// What the model of perf/report/scaling.py needs to know. `arrays`: of which halos are exchanged.
  std::vector<std::pair<std::string, double>> halo_counters(double radius, double steps, double arrays) const;

  std::vector<std::int64_t> extents_;

 private:
  Samples reference_;
};

std::unique_ptr<ScaledCase> scaled_product(const Station& station, const ScalingCase& c);
std::unique_ptr<ScaledCase> scaled_stencil(const Station& station, const ScalingCase& c);
std::unique_ptr<ScaledCase> scaled_system(const Station& station, const ScalingCase& c);

}  // namespace tessera::perf
