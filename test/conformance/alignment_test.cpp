// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The same plan on the same values gives the same bits, wherever the arrays begin: parts of vectors and lines at the
/// ends of rows round as whole ones do.

#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstring>

namespace tessera::test {

namespace {

/// Places of the first element, counted in elements from 256 bytes on.
constexpr std::int64_t kPlaces = 17;

template <class T>
std::vector<T> some_values(Random& random, std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = number<T>(random.uniform());
  return values;
}

/// Calls execute(inputs, out) with the arrays at each place and compares what came of it; how many differed.
template <class T, class Execute>
int count_differences(Context& context, const std::vector<std::vector<T>>& inputs, std::int64_t results,
                      Execute&& execute) {
  int differences = 0;
  std::vector<T> first;
  for (std::int64_t place = 0; place < kPlaces; ++place) {
    std::vector<Buffer<T>> buffers;
    std::vector<const T*> in;
    for (const std::vector<T>& input : inputs) {
      buffers.emplace_back(context, std::int64_t(input.size()) + kPlaces).upload(input, place);
      in.push_back(buffers.back().data() + place);
    }
    Buffer<T> out(context, results + kPlaces);
    execute(in, out.data() + (place * 5) % kPlaces);
    std::vector<T> result(static_cast<std::size_t>(results));
    out.download(result, (place * 5) % kPlaces);
    if (first.empty()) first = result;
    differences += std::memcmp(first.data(), result.data(), result.size() * sizeof(T)) != 0;
  }
  return differences;
}

/// Calls check(plan's description, differences) for each algorithm that takes the problem.
template <class PlanType, class Desc, class Compare>
void each_algorithm(Subject& subject, tessera_op op, const Desc& desc, Compare&& compare) {
  for (const std::string& name : subject.tested(op)) {
    Tally tally;
    try {
      PlanType plan(subject.context(), desc, {.operands = Memory::device, .algorithm = name});
      ++tally.run;
      INFO(plan.describe() << "; repeat with TESSERA_TEST_SEED=" << seed());
      CHECK(compare(plan) == 0);
    } catch (const Error& error) {
      INFO(name << ": " << error.what());
      CHECK(error.code() == ErrorCode::unsupported);
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bits do not depend on where arrays begin", "[alignment]", ElementTypes) {
  Subject subject;
  Random random("alignment");
  for (const int taps : {3, 9, 15, 25}) {
    for (const Boundary boundary : {Boundary::fixed, Boundary::periodic}) {
      const std::int64_t width = taps == 25 ? 88 : 83;  // a box of rows that are whole vectors, and others
      StencilDesc desc{.extents = {37, width}, .taps = Taps(2), .boundary = boundary, .dtype = kDType<TestType>};
      if (taps == 15) desc.taps = product(2, {-2, -2, 0}, {3, 5, 1}, Weights::contracting);
      for (int t = 0; t < taps && taps != 15; ++t) desc.taps.add({t / 5 - 2, t % 5 - 2, 0}, random.uniform());
      const auto in = some_values<TestType>(random, 37 * width);
      each_algorithm<StencilPlan>(subject, TESSERA_OP_STENCIL, desc, [&](StencilPlan& plan) {
        return count_differences<TestType>(subject.context(), {in}, 37 * width,
                                           [&](const auto& from, TestType* out) { plan.execute(from[0], out); });
      });
    }
  }
  for (const bool transposed : {false, true}) {
    const Transpose trans = transposed ? Transpose::yes : Transpose::no;
    const GemmDesc desc{.m = 37, .n = 45, .k = 153, .dtype = kDType<TestType>, .trans_a = trans, .trans_b = trans};
    const auto a = some_values<TestType>(random, 37 * 153), b = some_values<TestType>(random, 153 * 45);
    each_algorithm<GemmPlan>(subject, TESSERA_OP_GEMM, desc, [&](GemmPlan& plan) {
      return count_differences<TestType>(subject.context(), {a, b}, 37 * 45, [&](const auto& from, TestType* out) {
        plan.execute(Scalar<TestType>(0.7), from[0], from[1], Scalar<TestType>(0), out);
      });
    });
  }
}

}  // namespace tessera::test
