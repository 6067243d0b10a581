// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// More than 2^31 elements in one operand, on a device with the memory for it. Inputs are functions of the index, made
/// and checked in chunks.

#include "runner.hpp"
#include "takes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

namespace tessera::test {

namespace {

constexpr std::uint64_t kNeeded = std::uint64_t{32} << 30;
constexpr std::int64_t kChunk = std::int64_t{1} << 24;

void skip_without_memory(const Subject& subject) {
  if (subject.device_memory_bytes() < kNeeded)
    SKIP("the device has " << (subject.device_memory_bytes() >> 30) << " GiB, this test wants " << (kNeeded >> 30));
}

bool on_a_host(Context& context) {
  try {
    return context.native_stream() == nullptr;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return true;
  }
}

/// Small integers without a short period.
float value_at(std::int64_t i) {
  const std::uint64_t mixed = std::uint64_t(i) * 0x9e3779b97f4a7c15u;
  return float(std::int64_t(mixed >> 56) - 128);
}

template <class Value>
void upload(Buffer<float>& buffer, Value&& value) {
  std::vector<float> chunk;
  for (std::int64_t first = 0; first < buffer.size(); first += kChunk) {
    chunk.clear();
    for (std::int64_t i = first; i < std::min(first + kChunk, buffer.size()); ++i) chunk.push_back(value(i));
    buffer.upload(chunk, first);
  }
}

/// Windows to compare: the ends, both sides of 2^31 and of 2^32 bytes, and some at random.
std::vector<std::int64_t> windows(std::int64_t size, std::int64_t width) {
  std::vector<std::int64_t> firsts = {0, size - width};
  for (const int bit : {29, 30, 31})
    firsts.push_back(std::clamp<std::int64_t>((std::int64_t{1} << bit) - width / 2, 0, size - width));
  Random random("windows");
  for (int i = 0; i < 100; ++i) firsts.push_back(random.integer(0, size - width));
  return firsts;
}

/// The plan, or none of an algorithm that refuses the problems, and says why.
template <class Make>
auto plan_if_taken(const Subject& subject, const std::string& algorithm, Make&& make)
    -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    std::printf("%s/%s on large operands: %s\n", subject.spec().c_str(), algorithm.c_str(), error.what());
    return std::nullopt;
  }
}

/// Compares windows of an array with what each element must be.
template <class Expected>
void check_windows(const Buffer<float>& array, Expected&& expected) {
  constexpr std::int64_t kWidth = 4096;
  std::vector<float> got(kWidth);
  for (const std::int64_t first : windows(array.size(), kWidth)) {
    array.download(got, first);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < kWidth; ++i) wrong += got[std::size_t(i)] != expected(first + i);
    INFO("elements from " << first << " on");
    CHECK(wrong == 0);
  }
}

/// Point i after a step of a periodic line, or of a volume with fixed sides and taps of radius 1.
float stencil_point(const StencilDesc& desc, std::int64_t i) {
  const Integers& n = desc.extents;
  const bool is_line = n.size() == 1;
  const auto is_inside = [](std::int64_t at, std::int64_t extent) { return at > 0 && at + 1 < extent; };
  if (!is_line && !(is_inside(i / n[2] / n[1], n[0]) && is_inside(i / n[2] % n[1], n[1]) && is_inside(i % n[2], n[2])))
    return value_at(i);
  float sum = 0.0f;
  for (const Tap& tap : desc.taps) {
    const auto& o = tap.offset;
    const std::int64_t from = is_line ? (i + o[0] + n[0]) % n[0] : i + (o[0] * n[1] + o[1]) * n[2] + o[2];
    sum += float(tap.coefficient) * value_at(from);
  }
  return sum;
}

}  // namespace

TEST_CASE("a stencil on more than 2^31 points", "[.large]") {
  Subject subject;
  if (on_a_host(subject.context())) SKIP("only on a device with memory of its own; [sparse] covers the host");
  skip_without_memory(subject);
  constexpr std::int64_t rows = 1291, columns = 1293, n = 1290 * rows * columns;
  const StencilDesc periodic{.extents = {n}, .taps = line(1, 0, 3, Weights::integer), .boundary = Boundary::periodic};
  const StencilDesc volume{.extents = {1290, rows, columns}, .taps = star(3, 1, Weights::integer)};
  const StencilDesc blocks{.extents = volume.extents, .taps = product(3, {-1, -1, -1}, {3, 3, 3}, Weights::integer)};
  Buffer<float> in(subject.context(), n), out(subject.context(), n);
  upload(in, value_at);
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  int taken = 0;
  for (const std::string& name : subject.tested(TESSERA_OP_STENCIL)) {
    INFO("algorithm " << name);
    const auto desc = plan_if_taken(subject, name, [&] {
      return first_taken(subject.context(), name, {periodic, volume, blocks});
    });
    if (!desc) continue;
    ++taken;
    StencilPlan plan(subject.context(), *desc, {.operands = Memory::device, .algorithm = name});
    plan.execute(in.data(), out.data());
    check_windows(out, [&](std::int64_t i) { return stencil_point(*desc, i); });
  }
  CHECK(taken > 0);
}

TEST_CASE("a product of more than 2^31 elements", "[.large]") {
  Subject subject;
  if (on_a_host(subject.context())) SKIP("only on a device with memory of its own; [sparse] covers the host");
  skip_without_memory(subject);
  constexpr std::int64_t n = 46400, k = 3;
  Buffer<float> a(subject.context(), n * k), b(subject.context(), k * n), c(subject.context(), n * n);
  upload(a, value_at);
  upload(b, [](std::int64_t i) { return value_at(i + 7); });
  INFO("repeat with TESSERA_TEST_SEED=" << seed());
  int taken = 0;
  for (const std::string& name : subject.tested(TESSERA_OP_GEMM)) {
    INFO("algorithm " << name);
    auto plan = plan_if_taken(subject, name, [&] {
      return GemmPlan(subject.context(), {.m = n, .n = n, .k = k}, {.operands = Memory::device, .algorithm = name});
    });
    if (!plan) continue;
    ++taken;
    plan->execute(1.0f, a.data(), b.data(), 0.0f, c.data());
    check_windows(c, [&](std::int64_t i) {
      float expected = 0.0f;
      for (std::int64_t p = 0; p < k; ++p) expected += value_at(i / n * k + p) * value_at(p * n + i % n + 7);
      return expected;
    });
  }
  CHECK(taken > 0);
}

}  // namespace tessera::test
