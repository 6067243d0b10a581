// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The algorithm `doubled`: a complex product as one of real matrices, by the backend's other algorithms. Its Context
/// copies complex matrices: see complex_copy.hpp.
#pragma once

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/complex_copy.hpp>
#include <tessera/plugin/error.hpp>
#include <tessera/plugin/math.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::plugin {

/// Rows of D whose rows of A are copied at a time, and columns whose columns of B are.
struct DoubledPanels {
  std::int64_t m, n;
};

/// Panel after panel of D, each as one real product.
template <class Context>
class DoubledPlan final : public Plan {
 public:
  using Entry = Algorithm<Context, GemmProblem>;
  using Machine = typename Context::Machine;

  /// How the real product of a panel is computed.
  struct Chosen {
    const Entry* algorithm = nullptr;
    Offer offer;
  };
  /// By the cheapest offer within the limit, if there is one.
  static Chosen choose(const GemmProblem& panel, const Machine& machine, std::uint64_t workspace_limit) {
    const DoubledProduct doubled(panel);
    Chosen best;
    if (doubled.is_too_large() || doubled.bytes() > workspace_limit) return best;
    const std::uint64_t limit = workspace_limit - doubled.bytes();
    for (const Entry& entry : Register<Context, GemmProblem>::all()) {
      if (entry.features.forced_only || !entry.why_not(doubled.product(), machine).empty()) continue;
      OfferList offers(true);
      entry.offers(doubled.product(), machine, {}, limit, offers);
      if (offers.empty() || offers.cheapest().workspace_bytes > limit) continue;
      if (best.algorithm != nullptr && offers.cheapest().seconds >= best.offer.seconds) continue;
      best = {&entry, offers.cheapest()};
    }
    return best;
  }
  static GemmProblem panel_of(const GemmProblem& p, std::int64_t m, std::int64_t n) {
    GemmProblem panel = p;
    if (p.ordered) panel.whole_n = p.fixed_extent();
    panel.m = m, panel.n = n;
    return panel;
  }
  /// The first one.
  static GemmProblem panel_of(const GemmProblem& p, const DoubledPanels& panels) {
    return panel_of(p, (std::min)(panels.m, p.m), (std::min)(panels.n, p.n));
  }
  static std::int64_t pieces(std::int64_t extent, std::int64_t panel) {
    return extent == 0 ? 1 : ceil_div(extent, panel);
  }

  /// What all panels take; of an offer for the first one, `chosen`.
  static std::uint64_t workspace_of(const GemmProblem& p, const DoubledPanels& panels, const Chosen& chosen) {
    return DoubledProduct(panel_of(p, panels)).bytes() + chosen.offer.workspace_bytes;
  }
  static double seconds_of(const GemmProblem& p, const Machine& machine, const DoubledPanels& panels,
                           const Chosen& chosen) {
    const DoubledProduct doubled(panel_of(p, panels));
    const double down = double(pieces(p.m, panels.m)), across = double(pieces(p.n, panels.n));
    const double of_a = doubled.copies_a() ? Context::copying_seconds(machine, doubled.a()) : 0.0;
    return down * across * (chosen.offer.seconds + of_a) + across * Context::copying_seconds(machine, doubled.b());
  }

  DoubledPlan(Context& context, const GemmProblem& p, const DoubledPanels& panels, std::uint64_t workspace_limit)
      : problem_(p),
        bytes_a_(0),
        bytes_b_(0),
        workspace_bytes_(0),
        scale_(context.copying_complex(DoubledProduct::scaling(p))) {
    for (std::int64_t j = 0; j == 0 || j < p.n; j += panels.n)
      for (std::int64_t i = 0; i == 0 || i < p.m; i += panels.m)
        panels_.push_back(
            {i, j, product(context, (std::min)(panels.m, p.m - i), (std::min)(panels.n, p.n - j), workspace_limit)});
  }

  std::uint64_t workspace_bytes() const override { return bytes_a_ + bytes_b_ + workspace_bytes_; }

  void execute(const Execution& e) override {
    std::complex<double> alpha = e.complex_scalar(0), beta = e.complex_scalar(1);
    const void* c = e.raw_operand(2).data;
    if (beta.imag() != 0.0 || (beta != 0.0 && !DoubledProduct::has_like_c(problem_))) {
      scale_(c, e.raw_operand(3).data, beta);
      c = e.raw_operand(3).data, beta = 1.0;
    }
    const GemmProblem& p = problem_;
    const bool multiplies = p.k > 0 && p.m > 0 && p.n > 0 && p.batch > 0 && alpha != 0.0, folds = alpha.imag() != 0.0;
    std::int64_t of_b = -1;
    for (const Panel& panel : panels_) {
      const std::int64_t i = panel.row, j = panel.column;
      std::array<tessera_operand, 4> operands{at(e, 0, e.raw_operand(0).data, i * (p.trans_a ? 1 : p.lda)),
                                              at(e, 1, e.raw_operand(1).data, j * (p.trans_b ? p.ldb : 1)),
                                              at(e, 2, c, i * p.ldd + j),
                                              at(e, 3, e.raw_operand(3).data, i * p.ldd + j)};
      if (multiplies) {
        auto* const copied_a = e.template workspace<std::byte>();
        auto* const copied_b = copied_a + bytes_a_;
        if (j != of_b) panel.product->copy_b(operands[1].data, copied_b, folds ? alpha : 1.0);
        if (panel.product->copy_a) panel.product->copy_a(operands[0].data, copied_a, 1.0), operands[0].data = copied_a;
        operands[1].data = copied_b, of_b = j;
      }
      multiply(e, *panel.product, operands, multiplies && folds ? 1.0 : alpha.real(), beta.real());
    }
  }

 private:
  /// Of panels of a size.
  struct Product {
    std::int64_t m, n;
    std::unique_ptr<Plan> plan;
    CopyComplex copy_a, copy_b;
  };
  struct Panel {
    std::int64_t row, column;
    Product* product;
  };

  Product* product(Context& context, std::int64_t m, std::int64_t n, std::uint64_t workspace_limit) {
    for (const auto& known : products_)
      if (known->m == m && known->n == n) return known.get();
    const GemmProblem panel = panel_of(problem_, m, n);
    const Chosen chosen = choose(panel, context.machine(), workspace_limit);
    if (chosen.algorithm == nullptr)
      throw Error(TESSERA_INTERNAL, "doubled has no real product for the parameters that it offered");
    const DoubledProduct doubled(panel);
    auto made = std::make_unique<Product>();
    made->m = m, made->n = n;
    made->plan = chosen.algorithm->make(context, doubled.product(), chosen.offer.parameters);
    if (doubled.copies_a()) made->copy_a = context.copying_complex(doubled.a());
    made->copy_b = context.copying_complex(doubled.b());
    bytes_a_ = (std::max)(bytes_a_, doubled.bytes_a()), bytes_b_ = (std::max)(bytes_b_, doubled.bytes_b());
    workspace_bytes_ = (std::max)(workspace_bytes_, made->plan->workspace_bytes());
    products_.push_back(std::move(made));
    return products_.back().get();
  }

  /// An operand from an element on, of the parts' type; null where it is not read.
  tessera_operand at(const Execution& e, int number, const void* data, std::int64_t element) const {
    tessera_operand operand = e.raw_operand(number);
    auto* const bytes = static_cast<std::byte*>(const_cast<void*>(data));
    operand.data = bytes == nullptr ? bytes : bytes + element * std::int64_t(2 * size_of(problem_.dtype));
    operand.dtype = problem_.dtype;
    return operand;
  }
  void multiply(const Execution& e, const Product& product, const std::array<tessera_operand, 4>& operands,
                double alpha, double beta) const {
    const std::array<tessera_scalar, 2> scalars{{{problem_.dtype, 0, alpha, 0.0}, {problem_.dtype, 0, beta, 0.0}}};
    tessera_execution execution = e.raw();
    execution.operands = operands.data(), execution.operand_size = sizeof operands[0];
    execution.operand_count = operands.size();
    execution.scalars = scalars.data(), execution.scalar_size = sizeof scalars[0];
    execution.workspace = e.template workspace<std::byte>() + (bytes_a_ + bytes_b_);
    execution.workspace_bytes = product.plan->workspace_bytes();
    product.plan->execute(Execution(execution));
  }

  GemmProblem problem_;
  std::uint64_t bytes_a_, bytes_b_, workspace_bytes_;  ///< the most of all panels
  std::vector<std::unique_ptr<Product>> products_;
  std::vector<Panel> panels_;
  CopyComplex scale_;
};

/// The functions of the algorithm.
template <class Context>
struct Doubled {
  using Plans = DoubledPlan<Context>;
  using Machine = typename Context::Machine;

  static std::string why_unsupported(const GemmProblem& p, const Machine&) {
    if (!p.complex) return "it is for complex products";
    return DoubledProduct::has_large_numbers(p) ? "an extent or distance is above 2^57" : "";
  }
  static void offers(const GemmProblem& p, const Machine& machine, const GivenParameters& given,
                     std::uint64_t workspace_limit, OfferList& list) {
    constexpr auto kLargest = std::uint64_t((std::numeric_limits<std::int64_t>::max)());
    const auto limit = std::int64_t((std::min)(workspace_limit, kLargest));
    const auto workspace = std::uint64_t(given.in_range("workspace", limit, 0, limit));
    const DoubledPanels fit = panels_within(p, machine, workspace);
    const DoubledPanels panels{extent_of(given.in_range("panel_m", fit.m < p.m ? fit.m : 0, 0, p.m), p.m),
                               extent_of(given.in_range("panel_n", fit.n < p.n ? fit.n : 0, 0, p.n), p.n)};
    auto chosen = Plans::choose(Plans::panel_of(p, panels), machine, workspace);
    if (chosen.algorithm == nullptr) return;
    const std::uint64_t bytes = given.has("workspace") ? workspace : Plans::workspace_of(p, panels, chosen);
    chosen = Plans::choose(Plans::panel_of(p, panels), machine, bytes);  // with which its parameters make it
    if (chosen.algorithm == nullptr) return;
    list.add({{{"panel_m", panels.m < p.m ? panels.m : 0},
               {"panel_n", panels.n < p.n ? panels.n : 0},
               {"workspace", std::int64_t(bytes)}},
              Plans::seconds_of(p, machine, panels, chosen),
              Plans::workspace_of(p, panels, chosen)});
  }
  static std::unique_ptr<Plan> make(Context& context, const GemmProblem& p, const Parameters& parameters) {
    const DoubledPanels panels{extent_of(parameters.at("panel_m"), p.m), extent_of(parameters.at("panel_n"), p.n)};
    return std::make_unique<Plans>(context, p, panels, std::uint64_t(parameters.at("workspace")));
  }

  static constexpr Features kFeatures{.narrow = true, .ordered = true, .complex = true};

 private:
  /// That of a panel by its parameter.
  static std::int64_t extent_of(std::int64_t parameter, std::int64_t all) {
    return parameter == 0 ? (std::max)(all, std::int64_t(1)) : parameter;
  }
  /// All of D, or halves of halves until the copies and a product fit; one element where none do.
  static DoubledPanels panels_within(const GemmProblem& p, const Machine& machine, std::uint64_t limit) {
    DoubledPanels panels{extent_of(0, p.m), extent_of(0, p.n)};
    for (;;) {
      const GemmProblem panel = Plans::panel_of(p, panels);
      if (Plans::choose(panel, machine, limit).algorithm != nullptr) return panels;
      const DoubledProduct doubled(panel);
      const bool of_a = doubled.bytes_a() > doubled.bytes_b() && panels.m > 1;
      if (!of_a && panels.n == 1) return panels;
      (of_a ? panels.m : panels.n) = ((of_a ? panels.m : panels.n) + 1) / 2;
    }
  }
};

}  // namespace tessera::plugin
