// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// The order of the streaming algorithm's tiles: a pure function, tested without a device.
#include <streaming/rasterization.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tessera::cuda;

namespace {

constexpr std::int64_t kCache = std::int64_t(50) << 20, kMostRows = 65535;

Rasterization groups_of(std::int64_t planes, std::int64_t rows, std::int64_t row_bytes, std::int64_t most = kMostRows) {
  return rasterize({planes, rows, 6}, 2, 16, 2, row_bytes, kCache, most);
}

}  // namespace

TEST_CASE("a volume whose planes fit into half of the cache has one group") {
  const Rasterization whole = groups_of(384, 48, 768 * 4);
  CHECK(whole.groups == 1);
  CHECK(whole.group_rows == 48);
  CHECK(whole.planes == 384);
  CHECK(whole.columns == 6);
}

TEST_CASE("groups are equal, cover all rows of tiles and fit into half of the cache") {
  for (const std::int64_t rows : {1, 2, 47, 48, 49, 1000})
    for (const std::int64_t row_bytes : {768 * 4, 768 * 8, 100000, 10000000}) {
      const Rasterization order = groups_of(384, rows, row_bytes);
      CHECK(order.group_rows * order.groups >= rows);
      CHECK(order.group_rows * (order.groups - 1) < rows);
      const std::int64_t bytes = order.group_rows * 16 * (2 * 2 + 2 * 2) * row_bytes;
      CHECK((bytes <= kCache / 2 || order.group_rows == 1));
    }
}

TEST_CASE("a plane is cut only where the grid ends") {
  CHECK(groups_of(1, 1000, 10000000).groups == 1);
  const Rasterization order = groups_of(1, 1000, 4, 300);
  CHECK(order.groups == 4);
  CHECK(order.group_rows == 250);
}

TEST_CASE("nothing has no tiles") {
  const Rasterization none = rasterize({0, 0, 0}, 2, 16, 2, 4, kCache, kMostRows);
  CHECK(none.planes * none.group_rows * none.columns == 0);
}
