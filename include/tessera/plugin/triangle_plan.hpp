// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The algorithm `triangles`: a triangle of D by the backend's other algorithms, block after block. Its Context copies
/// triangles: see triangle_copy.hpp.
#pragma once

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/error.hpp>
#include <tessera/plugin/math.hpp>
#include <tessera/plugin/triangle_copy.hpp>
#include <tessera/plugin/triangle_parts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// A triangle of D: products of its blocks, copies of those on the diagonal, and of all to the other side.
template <class Context>
class TrianglesPlan final : public Plan {
 public:
  using Entry = Algorithm<Context, GemmProblem>;
  using Machine = typename Context::Machine;

  /// A part, and how it is computed.
  struct Chosen {
    TrianglePart part;
    const Entry* algorithm;
    Offer offer;
  };

  /// The cheapest offers for parts, found once each: those of other blocks have many of the same sizes, which then lie
  /// at the same distances.
  class Prices {
   public:
    Prices(const Machine& machine, std::uint64_t workspace_limit) : machine_(machine), limit_(workspace_limit) {}

    /// That of all algorithms; of none where there is none. `beside`: bytes of the limit that are taken.
    std::pair<const Entry*, Offer> of(const TrianglePart& part, std::uint64_t beside) {
      const GemmProblem& p = part.problem;
      auto [place, is_new] = known_.try_emplace({p.m, p.n, p.batch, std::int64_t(part.diagonal)});
      if (is_new) place->second = cheapest(p, limit_);
      const bool fits = place->second.second.workspace_bytes <= limit_ - beside;
      return fits ? place->second : cheapest(p, limit_ - beside);
    }

   private:
    std::pair<const Entry*, Offer> cheapest(const GemmProblem& p, std::uint64_t limit) const {
      std::pair<const Entry*, Offer> best{};
      for (const Entry& entry : Register<Context, GemmProblem>::all()) {
        if (entry.features.forced_only || !entry.why_not(p, machine_).empty()) continue;
        OfferList offers(true);
        entry.offers(p, machine_, {}, limit, offers);
        if (offers.empty() || offers.cheapest().workspace_bytes > limit) continue;
        if (best.first != nullptr && offers.cheapest().seconds >= best.second.seconds) continue;
        best = {&entry, offers.cheapest()};
      }
      return best;
    }

    const Machine& machine_;
    std::uint64_t limit_;
    std::map<std::array<std::int64_t, 4>, std::pair<const Entry*, Offer>> known_;
  };

  /// Each part by the cheapest offer within the limit; nothing where a part has none.
  static std::optional<std::vector<Chosen>> choose(const GemmProblem& p, std::int64_t block,
                                                   std::uint64_t workspace_limit, Prices& prices) {
    const std::uint64_t beside = bytes_beside(p, block);
    std::vector<Chosen> chosen;
    if (beside > workspace_limit) return std::nullopt;
    for (const TrianglePart& part : triangle_parts(p, block)) {
      const auto [algorithm, offer] = prices.of(part, beside);
      if (algorithm == nullptr) return std::nullopt;
      chosen.push_back({part, algorithm, offer});
    }
    return chosen;
  }

  static std::uint64_t workspace_of(const GemmProblem& p, std::int64_t block, const std::vector<Chosen>& parts) {
    std::uint64_t most = 0;
    for (const Chosen& chosen : parts) most = (std::max)(most, chosen.offer.workspace_bytes);
    return bytes_beside(p, block) + most;
  }

  static double seconds_of(const GemmProblem& p, const Machine& machine, const std::vector<Chosen>& parts) {
    double seconds = p.triangle == TESSERA_TRIANGLE_MIRRORED ? Context::copying_seconds(machine, mirroring(p)) : 0.0;
    for (const Chosen& chosen : parts) {
      seconds += chosen.offer.seconds;
      if (chosen.part.diagonal) seconds += Context::copying_seconds(machine, copy_of(p, chosen.part));
    }
    return seconds;
  }

  TrianglesPlan(Context& context, const GemmProblem& problem, std::int64_t block, const std::vector<Chosen>& parts)
      : problem_(problem), beside_(bytes_beside(problem, block)), workspace_bytes_(beside_) {
    for (const Chosen& chosen : parts) {
      auto plan = chosen.algorithm->make(context, chosen.part.problem, chosen.offer.parameters);
      workspace_bytes_ = (std::max)(workspace_bytes_, beside_ + plan->workspace_bytes());
      parts_.push_back({chosen.part, std::move(plan), {}});
      if (chosen.part.diagonal) parts_.back().copy = context.copying_triangle(copy_of(problem, chosen.part));
    }
    if (problem.triangle == TESSERA_TRIANGLE_MIRRORED) mirror_ = context.copying_triangle(mirroring(problem));
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const Execution& e) override {
    for (const Part& part : parts_) execute(part, e);
    auto* const d = e.template operand<void>(3);
    if (mirror_) mirror_(d, d);
  }

 private:
  struct Part {
    TrianglePart of;
    std::unique_ptr<Plan> plan;
    CopyTriangle copy;  ///< of diagonal blocks
  };

  /// Of an operand whose elements have parts of a type, or are of it.
  static std::size_t element_size(const GemmProblem& p, tessera_dtype dtype) {
    return (p.complex ? 2 : 1) * size_of(dtype);
  }
  /// Of the diagonal blocks, which are computed beside D: a multiple of 256.
  static std::uint64_t bytes_beside(const GemmProblem& p, std::int64_t block) {
    if (block == 1) return 0;
    const auto rows = std::uint64_t((std::min)(p.n, block));
    return round_up(std::uint64_t(p.batch) * std::uint64_t(p.n) * rows * element_size(p, p.dtype_d), 256);
  }
  static TriangleCopy copy_of(const GemmProblem& p, const TrianglePart& part) {
    const GemmProblem& q = part.problem;
    const std::int64_t to_stride = p.batch == 1 ? q.n * (p.ldd + 1) : p.stride_d;
    return {element_size(p, p.dtype_d),
            p.triangle != TESSERA_TRIANGLE_UPPER,
            false,
            q.batch,
            q.n,
            q.ldd,
            q.stride_d,
            p.ldd,
            to_stride};
  }
  static TriangleCopy mirroring(const GemmProblem& p) {
    return {element_size(p, p.dtype_d), true, true, p.batch, p.n, p.ldd, p.stride_d, p.ldd, p.stride_d};
  }

  void execute(const Part& part, const Execution& e) const {
    const GemmProblem& p = problem_;
    const std::int64_t i = part.of.row, j = part.of.column;
    const auto operand = [&](int number, tessera_dtype dtype, std::int64_t element) {
      auto* const data = e.template operand<std::byte>(number);  // null where it is not read
      return tessera_operand{data == nullptr ? data : data + element * std::int64_t(element_size(p, dtype)), dtype, 0};
    };
    std::array<tessera_operand, 5> operands{operand(0, p.dtype, i * (p.trans_a ? 1 : p.lda)),
                                            operand(1, p.dtype_b, j * (p.trans_b ? p.ldb : 1)),
                                            operand(2, p.dtype_d, i * p.ldc + j), operand(3, p.dtype_d, i * p.ldd + j)};
    void* const to = operands[3].data;
    if (part.of.diagonal) operands[3].data = e.template workspace<void>();
    if (p.bias != TESSERA_BIAS_NONE)
      operands[4] = operand(4, p.dtype_bias, (p.bias == TESSERA_BIAS_PER_ROW ? i : j) * p.bias_increment);
    tessera_execution execution = e.raw();
    execution.operands = operands.data(), execution.operand_size = sizeof operands[0];
    execution.operand_count = operands.size();
    execution.workspace = e.template workspace<std::byte>() + beside_;
    execution.workspace_bytes = part.plan->workspace_bytes();
    part.plan->execute(Execution(execution));
    if (part.copy) part.copy(operands[3].data, to);
  }

  GemmProblem problem_;
  std::uint64_t beside_, workspace_bytes_;
  std::vector<Part> parts_;
  CopyTriangle mirror_;
};

/// The functions of the algorithm.
template <class Context>
struct Triangles {
  using Plans = TrianglesPlan<Context>;
  using Machine = typename Context::Machine;

  static std::string why_unsupported(const GemmProblem& p, const Machine&) {
    if (p.triangle == TESSERA_TRIANGLE_NONE) return "it is for triangles of D";
    constexpr double kSquare = 64.0, kMost = 0x1p31;  // squares are copied by a launch
    const double across = double(p.n) / kSquare + 1.0;
    return double(p.batch) * across * across >= kMost ? "its triangles have 2^31 squares of 64 x 64 or more" : "";
  }

  static void offers(const GemmProblem& p, const Machine& machine, const GivenParameters& given,
                     std::uint64_t workspace_limit, OfferList& list) {
    constexpr std::int64_t kLeast = 64, kLargest = (std::numeric_limits<std::int64_t>::max)();
    const std::int64_t most = (std::max)(p.n, std::int64_t(1));
    std::vector<std::int64_t> blocks;
    for (std::int64_t block = kLeast; block < most; block *= 2) blocks.push_back(block);
    blocks.push_back(most);
    const auto limit = std::int64_t((std::min)(workspace_limit, std::uint64_t(kLargest)));
    const std::int64_t workspace = given.in_range("workspace", limit, 0, limit);
    typename Plans::Prices prices(machine, std::uint64_t(workspace));
    std::vector<Way> found;
    const auto add_way = [&](std::int64_t block) {
      const auto parts = Plans::choose(p, block, std::uint64_t(workspace), prices);
      if (parts) found.push_back({block, Plans::seconds_of(p, machine, *parts), Plans::workspace_of(p, block, *parts)});
    };
    for (const std::int64_t block : given.in_range("block", blocks, 1, most)) add_way(block);
    if (found.empty() && !given.has("block")) add_way(1);  // which needs no memory beside D
    if (list.only_cheapest() && !found.empty()) {
      const auto less = [](const Way& a, const Way& b) { return a.seconds < b.seconds; };
      found = {*std::min_element(found.begin(), found.end(), less)};
    }
    for (const Way& way : found)
      add(p, machine, way, given.has("workspace") ? std::uint64_t(workspace) : way.bytes, list);
  }

  static std::unique_ptr<Plan> make(Context& context, const GemmProblem& p, const Parameters& parameters) {
    const std::int64_t block = parameters.at("block");
    const auto workspace = std::uint64_t(parameters.at("workspace"));
    typename Plans::Prices prices(context.machine(), workspace);
    const auto parts = Plans::choose(p, block, workspace, prices);
    if (!parts) throw Error(TESSERA_INTERNAL, "triangles has no parts for the parameters that it offered");
    return std::make_unique<Plans>(context, p, block, *parts);
  }

  /// A way to cut a triangle.
  struct Way {
    std::int64_t block;
    double seconds;
    std::uint64_t bytes;
  };
  /// With the parts that are chosen within the workspace that its parameters tell: other algorithms than with more may
  /// be the cheapest then.
  static void add(const GemmProblem& p, const Machine& machine, const Way& way, std::uint64_t workspace,
                  OfferList& list) {
    typename Plans::Prices prices(machine, workspace);
    const auto parts = Plans::choose(p, way.block, workspace, prices);
    if (!parts) return;
    list.add({{{"block", way.block}, {"workspace", std::int64_t(workspace)}},
              Plans::seconds_of(p, machine, *parts),
              Plans::workspace_of(p, way.block, *parts)});
  }

  static constexpr Features kFeatures{
      .narrow = true, .epilogue = true, .ordered = true, .triangle = true, .complex = true};
};

}  // namespace tessera::plugin
