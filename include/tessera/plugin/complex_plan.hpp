// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The algorithm `doubled`: a complex product as one of real matrices, by the backend's other algorithms. Its Context
/// copies complex matrices: see complex_copy.hpp.
#pragma once

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/complex_copy.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace tessera::plugin {

template <class Context>
class DoubledPlan final : public Plan {
 public:
  using Entry = Algorithm<Context, GemmProblem>;
  using Machine = typename Context::Machine;

  /// How the real product is computed.
  struct Chosen {
    const Entry* algorithm = nullptr;
    Offer offer;
  };
  /// By the cheapest offer within the limit, if there is one.
  static Chosen choose(const GemmProblem& p, const Machine& machine, std::uint64_t workspace_limit) {
    const DoubledProduct doubled(p);
    const std::uint64_t beside = doubled.bytes();
    Chosen best;
    if (beside > workspace_limit) return best;
    for (const Entry& entry : Register<Context, GemmProblem>::all()) {
      if (entry.features.forced_only || !entry.why_not(doubled.product(), machine).empty()) continue;
      OfferList offers(true);
      entry.offers(doubled.product(), machine, {}, workspace_limit - beside, offers);
      if (offers.empty() || offers.cheapest().workspace_bytes > workspace_limit - beside) continue;
      if (best.algorithm != nullptr && offers.cheapest().seconds >= best.offer.seconds) continue;
      best = {&entry, offers.cheapest()};
    }
    return best;
  }

  static std::uint64_t workspace_of(const GemmProblem& p, const Chosen& chosen) {
    const DoubledProduct doubled(p);
    return doubled.bytes() + chosen.offer.workspace_bytes;
  }
  static double seconds_of(const GemmProblem& p, const Machine& machine, const Chosen& chosen) {
    const DoubledProduct doubled(p);
    const double of_a = doubled.copies_a() ? Context::copying_seconds(machine, doubled.a()) : 0.0;
    return chosen.offer.seconds + of_a + Context::copying_seconds(machine, doubled.b());
  }

  DoubledPlan(Context& context, const GemmProblem& p, const Chosen& chosen)
      : bytes_a_(DoubledProduct(p).bytes_a()),
        bytes_b_(DoubledProduct(p).bytes_b()),
        workspace_bytes_(workspace_of(p, chosen)),
        multiplies_(p.k > 0 && p.m > 0 && p.n > 0 && p.batch > 0) {
    const DoubledProduct doubled(p);
    plan_ = chosen.algorithm->make(context, doubled.product(), chosen.offer.parameters);
    if (doubled.copies_a()) copy_a_ = context.copying_complex(doubled.a());
    copy_b_ = context.copying_complex(doubled.b());
    scale_ = context.copying_complex(DoubledProduct::scaling(p));
  }

  std::uint64_t workspace_bytes() const override { return workspace_bytes_; }

  void execute(const Execution& e) override {
    std::complex<double> alpha = e.complex_scalar(0), beta = e.complex_scalar(1);
    auto* const copied_a = e.template workspace<std::byte>();
    auto* const copied_b = copied_a + bytes_a_;
    std::array<tessera_operand, 4> operands;
    for (int i = 0; i < 4; ++i) {
      operands[std::size_t(i)] = e.raw_operand(i);
      operands[std::size_t(i)].dtype = part_of(operands[std::size_t(i)].dtype);
    }
    if (multiplies_ && alpha != 0.0) {
      if (copy_a_) copy_a_(operands[0].data, copied_a, 1.0);
      const bool folds = alpha.imag() != 0.0;
      copy_b_(operands[1].data, copied_b, folds ? alpha : 1.0);
      if (folds) alpha = 1.0;
      if (copy_a_) operands[0].data = copied_a;
      operands[1].data = copied_b;
    }
    if (beta.imag() != 0.0) {
      scale_(operands[2].data, operands[3].data, beta);
      operands[2].data = operands[3].data, beta = 1.0;
    }
    const tessera_dtype scalar = part_of(e.raw_scalar(0).dtype);
    const std::array<tessera_scalar, 2> scalars{{{scalar, 0, alpha.real(), 0.0}, {scalar, 0, beta.real(), 0.0}}};
    tessera_execution execution = e.raw();
    execution.operands = operands.data(), execution.operand_size = sizeof operands[0];
    execution.operand_count = operands.size();
    execution.scalars = scalars.data(), execution.scalar_size = sizeof scalars[0];
    execution.workspace = copied_b + bytes_b_;
    execution.workspace_bytes = plan_->workspace_bytes();
    plan_->execute(Execution(execution));
  }

 private:
  std::uint64_t bytes_a_, bytes_b_, workspace_bytes_;
  bool multiplies_;
  std::unique_ptr<Plan> plan_;
  CopyComplex copy_a_, copy_b_, scale_;
};

/// The functions of the algorithm.
template <class Context>
struct Doubled {
  using Plans = DoubledPlan<Context>;
  using Machine = typename Context::Machine;

  static std::string why_unsupported(const GemmProblem& p, const Machine&) {
    if (!p.complex) return "it is for complex products";
    const std::int64_t most = (std::numeric_limits<std::int64_t>::max)() / 64;
    const std::array sizes{p.n, p.k, p.lda, p.ldc, p.ldd, p.stride_a, p.stride_c, p.stride_d};
    return *std::max_element(sizes.begin(), sizes.end()) > most ? "an extent or distance is above 2^57" : "";
  }
  static void offers(const GemmProblem& p, const Machine& machine, const GivenParameters& given,
                     std::uint64_t workspace_limit, OfferList& list) {
    constexpr auto kLargest = std::uint64_t((std::numeric_limits<std::int64_t>::max)());
    const auto limit = std::int64_t((std::min)(workspace_limit, kLargest));
    const auto workspace = std::uint64_t(given.in_range("workspace", limit, 0, limit));
    typename Plans::Chosen chosen = Plans::choose(p, machine, workspace);
    if (chosen.algorithm == nullptr) return;
    const std::uint64_t bytes = given.has("workspace") ? workspace : Plans::workspace_of(p, chosen);
    chosen = Plans::choose(p, machine, bytes);  // that with which its parameters make it
    if (chosen.algorithm == nullptr) return;
    list.add(
        {{{"workspace", std::int64_t(bytes)}}, Plans::seconds_of(p, machine, chosen), Plans::workspace_of(p, chosen)});
  }
  static std::unique_ptr<Plan> make(Context& context, const GemmProblem& p, const Parameters& parameters) {
    const auto workspace = std::uint64_t(parameters.at("workspace"));
    return std::make_unique<Plans>(context, p, Plans::choose(p, context.machine(), workspace));
  }

  static constexpr Features kFeatures{.narrow = true, .ordered = true, .complex = true};
};

}  // namespace tessera::plugin
