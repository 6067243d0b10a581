// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// GEMM as a program that has just been ported to Kokkos does it: an MDRangePolicy over the elements of C, each of
/// which sums its products from memory. The yardstick for team_tiled.

#include "../context.hpp"
#include "../range.hpp"
#include "arguments.hpp"

namespace tessera::kokkos {
namespace {

template <class T, bool kGeneral>
struct Element {
  GemmArguments<T> g;
  Writer<T, kGeneral> d;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t column, std::int64_t row, std::int64_t item) const {
    const T* a = g.a + item * g.stride_a + row * g.a_row;
    const T* b = g.b + item * g.stride_b + column * g.b_column;
    Scalar<T> sum = 0;
    for (std::int64_t l = 0; l < g.k; ++l) sum += widened(a[l * g.a_k]) * widened(b[l * g.b_k]);
    d.write(d.row(item, row), column, sum);
  }
};

template <class T>
class MdrangePlan final : public plugin::Plan {
 public:
  MdrangePlan(Context& context, const plugin::GemmProblem& problem) : context_(context), problem_(problem) {}

  void execute(const plugin::Execution& execution) override {
    with_writer<T>(problem_, [&]<bool kGeneral>(std::bool_constant<kGeneral>) {
      const Element<T, kGeneral> element{arguments_of<T>(problem_, execution), {problem_, execution}};
      context_.dispatch([&](const Launcher& launch) {
        launch(range(launch.space(), {0, 0, 0}, {problem_.n, problem_.m, problem_.batch}), element);
      });
    });
  }

 private:
  Context& context_;
  plugin::GemmProblem problem_;
};

void offer(const plugin::GemmProblem& p, const Machine& machine, const plugin::GivenParameters&, std::uint64_t,
           plugin::OfferList& offers) {
  offers.add({{}, gemm_seconds(machine, p, machine.costs.gemm_mdrange)});
}

std::unique_ptr<plugin::Plan> make(Context& context, const plugin::GemmProblem& p, const plugin::Parameters&) {
  context.require_no_fault();
  return plugin::with_types(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<plugin::Plan> {
    return std::make_unique<MdrangePlan<T>>(context, p);
  });
}

const plugin::Register<Context, plugin::GemmProblem> kRegistered{{"mdrange",
                                                                  plugin::supports_all<plugin::GemmProblem, Machine>,
                                                                  offer,
                                                                  make,
                                                                  {.narrow = true, .epilogue = true, .aux = true}},
                                                                 2};

}  // namespace
}  // namespace tessera::kokkos
