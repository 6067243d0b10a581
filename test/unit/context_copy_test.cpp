// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// tessera_context_copy: what it refuses, and boxes of strided arrays.

#include "errors.hpp"

#include "../plugins/fake_stats.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

using Axes = std::array<std::int64_t, 3>;

std::int64_t copies_of(Context& context) { return static_cast<FakeStats*>(context.native_stream())->copies; }

/// Of floats, in three axes.
tessera_copy copy_of(int direction, void* target, const Axes& target_strides, const void* source,
                     const Axes& source_strides, const Axes& extents) {
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = direction, copy.rank = 3, copy.element_size = sizeof(float);
  copy.target = target, copy.source = source;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    copy.extents[axis] = extents[axis];
    copy.target_strides[axis] = target_strides[axis], copy.source_strides[axis] = source_strides[axis];
  }
  return copy;
}

/// 0, 1, 2 and so on behind `first`.
std::vector<float> counted(std::int64_t count, float first) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + float(i);
  return values;
}

}  // namespace

TEST_CASE("a copy that is none is refused, with what is wrong of it", "[copy]") {
  Context context = fake();
  Buffer<float> buffer(context, 60);
  const std::vector<float> values(60, 1.0f);
  const tessera_copy good =
      copy_of(TESSERA_COPY_TO_DEVICE, buffer.data(), {15, 5, 1}, values.data(), {15, 5, 1}, {4, 3, 5});
  const auto refused = [&](const char* what, const std::vector<std::string>& parts, auto&& change) {
    tessera_copy copy = good;
    change(copy);
    ErrorText error;
    check_error(what, tessera_context_copy(context.get(), &copy, error.get()), error, TESSERA_INVALID_ARGUMENT, parts);
  };
  refused("no rank", {"rank = -1", "[0, 4]"}, [](tessera_copy& c) { c.rank = -1; });
  refused("an axis too many", {"rank = 5", "[0, 4]"}, [](tessera_copy& c) { c.rank = 5; });
  refused("empty elements", {"element_size = 0", "[1, 16]"}, [](tessera_copy& c) { c.element_size = 0; });
  refused("large elements", {"element_size = 17", "[1, 16]"}, [](tessera_copy& c) { c.element_size = 17; });
  refused("a direction", {"direction = 2", "to host (1)"}, [](tessera_copy& c) { c.direction = 2; });
  refused("an extent", {"extents[1] = -1"}, [](tessera_copy& c) { c.extents[1] = -1; });
  refused("a target's stride", {"target_strides[2] = -1"}, [](tessera_copy& c) { c.target_strides[2] = -1; });
  refused("a source's stride", {"source_strides[0] = -15"}, [](tessera_copy& c) { c.source_strides[0] = -15; });
  refused("a stride beside an empty axis", {"source_strides[2] = -1"}, [](tessera_copy& c) {
    c.extents[0] = 0;
    c.source_strides[2] = -1;
  });
  refused("no target", {"target = null"}, [](tessera_copy& c) { c.target = nullptr; });
  refused("no source", {"source = null"}, [](tessera_copy& c) { c.source = nullptr; });
  refused("no size", {"the copy", "struct_size"}, [](tessera_copy& c) { c.struct_size = 0; });
  CHECK(copies_of(context) == 0);

  ErrorText error;
  check_error("no context", tessera_context_copy(nullptr, &good, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"context = null"});
  check_error("no copy", tessera_context_copy(context.get(), nullptr, error.get()), error, TESSERA_INVALID_ARGUMENT,
              {"the copy is null"});
}

TEST_CASE("an axis of no points copies nothing, and no axis one element", "[copy]") {
  Context context = fake();
  Buffer<float> buffer(context, 2);
  const std::vector<float> zeros(2), values{5.0f, 6.0f};
  buffer.upload(zeros);
  const std::int64_t before = copies_of(context);
  tessera_copy copy = copy_of(TESSERA_COPY_TO_DEVICE, nullptr, {1, 1, 1}, nullptr, {1, 1, 1}, {2, 0, 1});
  CHECK(tessera_context_copy(context.get(), &copy, nullptr) == TESSERA_OK);
  CHECK(copies_of(context) == before);

  copy.rank = 0, copy.target = buffer.data(), copy.source = values.data();
  CHECK(tessera_context_copy(context.get(), &copy, nullptr) == TESSERA_OK);
  std::vector<float> back(2);
  buffer.download(back);
  CHECK(back == std::vector<float>{5.0f, 0.0f});
}

TEST_CASE("a box goes to a strided array and back, and nothing beside it changes", "[copy]") {
  // On the host axes of 5, 6 and 7 points; on the device the same axes in another order.
  const Axes on_host{42, 7, 1}, on_device{1, 5, 30}, extents{3, 2, 4};
  const auto offset = [](const Axes& strides, std::int64_t z, std::int64_t y, std::int64_t x) {
    return std::size_t(z * strides[0] + y * strides[1] + x * strides[2]);
  };
  Context context = fake();
  Buffer<float> buffer(context, 210);
  const std::vector<float> source = counted(210, 0.0f), device = counted(210, 1000.0f);
  std::vector<float> wanted_device = device, wanted_host = counted(210, 2000.0f);
  for (std::int64_t z = 0; z < extents[0]; ++z)
    for (std::int64_t y = 0; y < extents[1]; ++y)
      for (std::int64_t x = 0; x < extents[2]; ++x) {
        const float value = source[offset(on_host, z + 1, y + 3, x + 2)];
        wanted_device[offset(on_device, z + 2, y, x + 3)] = value;
        wanted_host[offset(on_host, z, y + 4, x + 1)] = value;
      }

  buffer.upload(device);
  float* const box = buffer.data() + offset(on_device, 2, 0, 3);
  tessera_copy copy =
      copy_of(TESSERA_COPY_TO_DEVICE, box, on_device, source.data() + offset(on_host, 1, 3, 2), on_host, extents);
  REQUIRE(tessera_context_copy(context.get(), &copy, nullptr) == TESSERA_OK);
  std::vector<float> back(210), host = counted(210, 2000.0f);
  buffer.download(back);
  CHECK(back == wanted_device);

  copy = copy_of(TESSERA_COPY_TO_HOST, host.data() + offset(on_host, 0, 4, 1), on_host, box, on_device, extents);
  REQUIRE(tessera_context_copy(context.get(), &copy, nullptr) == TESSERA_OK);
  CHECK(host == wanted_host);
}

TEST_CASE("a copy comes behind what was queued", "[copy]") {
  Context context = fake();
  GemmPlan plan(context, {.m = 1, .n = 1, .k = 1}, {.operands = Memory::device});
  Buffer<float> a(context, 1), b(context, 1), c(context, 1);
  a.upload(std::vector<float>{3.0f}), b.upload(std::vector<float>{5.0f}), c.upload(std::vector<float>{0.0f});
  plan.execute(1.0f, a, b, 0.0f, c);
  float product = 0.0f;
  const tessera_copy copy = copy_of(TESSERA_COPY_TO_HOST, &product, {1, 1, 1}, c.data(), {1, 1, 1}, {1, 1, 1});
  REQUIRE(tessera_context_copy(context.get(), &copy, nullptr) == TESSERA_OK);
  CHECK(product == 15.0f);
}

}  // namespace tessera::test
