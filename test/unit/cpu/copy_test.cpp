// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Copies by the CPU backend. The core asks a backend on the host for contiguous ones alone; the contract has strides.
#include <context.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace tessera;

namespace {

using Axes = std::array<std::int64_t, TESSERA_COPY_MAX_RANK>;

/// In elements; neighbours on the last axis are `step` apart, and one element follows each line.
Axes strides_of(const Axes& extents, int rank, std::int64_t step) {
  Axes strides{};
  for (int axis = rank - 1; axis >= 0; --axis) {
    strides[std::size_t(axis)] = step;
    step = step * extents[std::size_t(axis)] + 1;
  }
  return strides;
}

std::int64_t place(const Axes& index, const Axes& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
}

/// Calls body(index) for each element.
template <class Body>
void for_each(const Axes& extents, const Body& body) {
  for (std::int64_t i = 0; i < extents[0]; ++i)
    for (std::int64_t j = 0; j < extents[1]; ++j)
      for (std::int64_t k = 0; k < extents[2]; ++k)
        for (std::int64_t l = 0; l < extents[3]; ++l) body(Axes{i, j, k, l});
}

}  // namespace

TEST_CASE("copies of each rank take strides on both sides, and leave alone what lies between") {
  const int rank = GENERATE(0, 1, 2, 3, 4);
  const std::int64_t to_step = GENERATE(1, 3), from_step = GENERATE(1, 2);
  const std::int64_t longest = GENERATE(5, 5003);  // for the caller alone, and for several threads
  CAPTURE(rank, to_step, from_step, longest);
  Axes extents{1, 1, 1, 1};
  const Axes all{3, longest, 4, 7};
  std::copy_n(all.begin(), rank, extents.begin());
  const Axes to = strides_of(extents, rank, to_step), from = strides_of(extents, rank, from_step);
  Axes end = extents;
  for (std::int64_t& last : end) --last;
  std::vector<std::int32_t> source(std::size_t(place(end, from) + 1)), target(std::size_t(place(end, to) + 2), -1);
  std::iota(source.begin(), source.end(), 0);
  std::vector<std::int32_t> expected = target;
  for_each(extents, [&](const Axes& index) {
    expected[std::size_t(place(index, to))] = source[std::size_t(place(index, from))];
  });

  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.rank = rank;
  copy.element_size = sizeof(std::int32_t);
  copy.target = target.data();
  copy.source = source.data();
  std::copy_n(extents.begin(), rank, copy.extents);
  std::copy_n(to.begin(), rank, copy.target_strides);
  std::copy_n(from.begin(), rank, copy.source_strides);
  tessera_backend_context_desc desc{};
  desc.struct_size = sizeof desc;
  desc.threads = 3;
  cpu::Context(desc).copy(copy);
  CHECK((target == expected));
}
