// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Zero steps of a stencil copy the field: every number of 16 bits comes out as it was. A NaN stays one, signalling or
/// not, but its bits may be others, and a zero may lose its sign, since the copy is a step of the identity.

#include "element_numbers.hpp"
#include "subject.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <vector>

namespace tessera::test {

namespace {

constexpr std::int64_t kWidth = 256;

/// The places of `out` that do not have the value of `in`.
template <class T>
std::vector<std::size_t> changed(const std::vector<T>& in, const std::vector<T>& out) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto before = wide(in[i]), after = wide(out[i]);
    if (before == before ? before != after : after == after) places.push_back(i);
  }
  return places;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("zero steps copy every number of 16 bits", "[copy]", NarrowTypes) {
  Subject subject;
  const StencilDesc desc{
      .extents = {kWidth, kWidth}, .taps = taps::laplacian(2), .steps = 0, .dtype = kDType<TestType>};
  std::vector<TestType> all(kWidth * kWidth);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = TestType::from_bits(std::uint16_t(i));
  Buffer<TestType> in(subject.context(), kWidth * kWidth), out(subject.context(), kWidth * kWidth);
  in.upload(all);
  int runs = 0;
  for (const std::string& name : subject.tested(TESSERA_OP_STENCIL)) {
    INFO(name);
    try {
      StencilPlan plan(subject.context(), desc, {.operands = Memory::device, .algorithm = name});
      out.upload(std::vector<TestType>(all.size(), TestType(0.5f)));
      plan.execute(in, out);
      std::vector<TestType> copy(all.size());
      out.download(copy);
      CHECK(changed(all, copy).empty());
      ++runs;
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.code() == ErrorCode::unsupported);
    }
  }
  if (subject.is_complete() && subject.tested(TESSERA_OP_STENCIL) == subject.algorithms(TESSERA_OP_STENCIL))
    CHECK(runs > 0);
}

}  // namespace tessera::test
