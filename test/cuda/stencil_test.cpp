// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What the persistent algorithm chooses by itself, forced: the same bits however the domain is cut, in every run, from
/// a graph and beside another plan. And sweeps of the streaming algorithm, whose launches overlap: exactly what one
/// launch a sweep gives.

#include "cuda_support.hpp"
#include "element_numbers.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace tessera::test {

namespace {

Taps contracting(bool box, int radius) {
  Taps taps(2);
  for (int y = -radius; y <= radius; ++y)
    for (int x = -radius; x <= radius; ++x)
      if (box || y == 0 || x == 0) taps.add({y, x}, (1.0 + 0.1 * y + 0.03 * x) / (box ? 9.0 : 4.0 * radius + 1.0));
  return taps;
}

template <class T>
class Field {
 public:
  Field(Context& context, std::int64_t height, std::int64_t width)
      : in(context, height * width), out(context, height * width), values_(std::size_t(height * width)) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> value(-1.0, 1.0);
    for (T& v : values_) v = number<T>(value(random));
    in.upload(values_);
  }

  void forget() { out.upload(std::vector<T>(values_.size(), number<T>(7))); }
  std::vector<T> result() {
    out.download(values_);
    return values_;
  }

  Buffer<T> in, out;

 private:
  std::vector<T> values_;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

std::vector<double> integers(std::size_t count) {
  std::mt19937 random(2);
  std::vector<double> values(count);
  for (double& v : values) v = double(random() % 17) - 8.0;
  return values;
}

std::string layout(int depth, int rows, int warps) {
  return "persistent:depth=" + std::to_string(depth) + ",rows=" + std::to_string(rows) +
         ",warps=" + std::to_string(warps);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("persistent gives the same bits however the domain is cut", "[persistent]", ElementTypes) {
  Context context = open_cuda();
  const auto [box, radius] = GENERATE(std::pair{false, 1}, std::pair{true, 1}, std::pair{false, 2});
  const auto mode = GENERATE(Boundary::fixed, Boundary::mirror, Boundary::periodic);
  constexpr std::int64_t kHeight = 343, kSteps = 7;
  const std::int64_t width = GENERATE(262, 397);
  Field<TestType> field(context, kHeight, width);
  StencilDesc desc{.extents = {kHeight, width}, .taps = contracting(box, radius), .boundary = mode, .steps = kSteps};
  desc.dtype = kDType<TestType>;

  std::vector<TestType> expected;
  int layouts = 0;
  for (const int rows : {4, 6, 8, 10, 12, 16, 20})
    for (const int warps : {4, 16})
      for (const int depth : {1, 3, 7}) {
        CAPTURE(box, radius, mode, width, rows, warps, depth);
        try {
          StencilPlan plan(context, desc, {.operands = Memory::device, .algorithm = layout(depth, rows, warps)});
          field.forget();
          plan.execute(field.in.data(), field.out.data());
        } catch (const Error& error) {  // other rows have no kernel, and not every tile suits the domain
          REQUIRE(error.code() == ErrorCode::invalid_argument);
          continue;
        }
        ++layouts;
        if (expected.empty()) expected = field.result();
        REQUIRE(same_bits(field.result(), expected));
      }
  CHECK(layouts >= 6);
}

TEST_CASE("persistent can be replayed, and two plans run on two streams", "[persistent]") {
  open_cuda();
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) succeed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    const auto wrapping = [](cudaStream_t stream) {
      ContextOptions options;
      options.native_stream = stream;
      return options;
    };
    Context first = open_cuda(wrapping(streams[0])), second = open_cuda(wrapping(streams[1]));
    const StencilDesc desc{
        .extents = {500, 600}, .taps = contracting(false, 1), .boundary = Boundary::nearest, .steps = 100};
    const PlanOptions options{.operands = Memory::device, .algorithm = "persistent"};
    StencilPlan plans[2] = {StencilPlan(first, desc, options), StencilPlan(second, desc, options)};
    Field<float> fields[2] = {Field<float>(first, 500, 600), Field<float>(second, 500, 600)};
    plans[0].execute(fields[0].in.data(), fields[0].out.data());
    const std::vector<float> expected = fields[0].result();

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    succeed(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    plans[0].execute(fields[0].in.data(), fields[0].out.data());
    succeed(cudaStreamEndCapture(streams[0], &graph));
    succeed(cudaGraphInstantiate(&replay, graph, 0));
    fields[0].forget();
    for (int run = 0; run < 5; ++run) {
      succeed(cudaGraphLaunch(replay, streams[0]));
      plans[1].execute(fields[1].in.data(), fields[1].out.data());
    }
    for (Field<float>& field : fields) CHECK(field.result() == expected);
    succeed(cudaGraphExecDestroy(replay));
    succeed(cudaGraphDestroy(graph));
  }
  for (cudaStream_t stream : streams) succeed(cudaStreamDestroy(stream));
}

TEMPLATE_LIST_TEST_CASE("fused steps of 16-bit elements give the bits of single sweeps", "[temporal]", NarrowTypes) {
  Context context = open_cuda();
  constexpr std::int64_t kHeight = 200, kWidth = 304;
  // Weighted means of numbers from 1 to 17 with at most 11 bits: exact in f32 in any order, and each step rounds them.
  const Taps taps(2,
                  {{{-1, 0, 0}, 0.25}, {{0, -1, 0}, 0.125}, {{0, 0, 0}, 0.25}, {{0, 1, 0}, 0.125}, {{1, 0, 0}, 0.25}});
  const auto mode = GENERATE(Boundary::fixed, Boundary::mirror, Boundary::periodic);
  Field<TestType> field(context, kHeight, kWidth);
  std::vector<TestType> start;
  for (const double value : integers(std::size_t(kHeight * kWidth))) start.push_back(number<TestType>(9.0 + value));
  field.in.upload(start);
  StencilDesc desc{.extents = {kHeight, kWidth}, .taps = taps, .boundary = mode, .steps = 9};
  desc.dtype = kDType<TestType>;
  std::vector<TestType> expected;
  for (const char* algorithm : {"naive", "streaming", "temporal:depth=9", "temporal:depth=4", "persistent"}) {
    CAPTURE(mode, algorithm);
    StencilPlan plan(context, desc, {.operands = Memory::device, .algorithm = algorithm});
    field.forget();
    plan.execute(field.in.data(), field.out.data());
    if (expected.empty()) expected = field.result();
    REQUIRE(same_bits(field.result(), expected));
  }
}

TEMPLATE_TEST_CASE("many taps on a large plane, which streaming has kernels of its own for", "[streaming]", float,
                   double) {
  Context context = open_cuda();
  constexpr std::int64_t kHeight = 4100, kWidth = 4099;
  Taps taps(2);
  for (int y = -3; y <= 3; ++y)
    for (int x = -3; x <= 3; ++x) taps.add({y, x}, double(3 * y - 2 * x));  // at most 15: sums of integers are exact
  const std::vector<double> values = integers(std::size_t(kHeight * kWidth));
  Field<TestType> field(context, kHeight, kWidth);
  field.in.upload(std::vector<TestType>(values.begin(), values.end()));
  for (const Boundary mode : {Boundary::fixed, Boundary::periodic, Boundary::mirror}) {
    CAPTURE(mode);
    StencilDesc desc{.extents = {kHeight, kWidth}, .taps = taps, .boundary = mode};
    desc.dtype = kDType<TestType>;
    StencilPlan expecting(context, desc, {.operands = Memory::device, .algorithm = "naive"});
    StencilPlan plan(context, desc, {.operands = Memory::device, .algorithm = "streaming"});
    expecting.execute(field.in.data(), field.out.data());
    const std::vector<TestType> expected = field.result();
    field.forget();
    plan.execute(field.in.data(), field.out.data());
    REQUIRE(field.result() == expected);
  }
}

namespace {

/// -1 at a point and its side at each neighbour; `shape`: no further tap.
Taps alternating_taps(int rank, bool shape) {
  Taps taps(rank, {{{0, 0, 0}, -1.0}});
  for (int axis = 0; axis < rank; ++axis)
    for (const std::int64_t side : {-1, 1}) {
      std::array<std::int64_t, 3> offset{};
      offset[std::size_t(axis)] = side;
      taps.add(offset, double(side));
    }
  if (!shape) taps.add({3, 0, 0}, 1.0);
  return taps;
}

/// Executes the plan several times in a row, directly and from a graph, and compares what each row leaves.
void run_in_a_graph(cudaStream_t stream, StencilPlan& plan, Field<double>& field, const std::vector<double>& expected) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int run = 0; run < 3; ++run) plan.execute(field.in.data(), field.out.data());
  succeed(cudaStreamEndCapture(stream, &graph));
  succeed(cudaGraphInstantiate(&replay, graph, 0));
  for (int run = 0; run < 5; ++run) {
    field.forget();
    for (int again = 0; again < 3; ++again) plan.execute(field.in.data(), field.out.data());
    REQUIRE(field.result() == expected);
    field.forget();
    succeed(cudaGraphLaunch(replay, stream));
    REQUIRE(field.result() == expected);
  }
  succeed(cudaGraphExecDestroy(replay));
  succeed(cudaGraphDestroy(graph));
}

}  // namespace

TEST_CASE("streaming's sweeps wait for each other, also in a graph", "[streaming]") {
  cudaStream_t stream;
  open_cuda();
  succeed(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    ContextOptions options;
    options.native_stream = stream;
    Context context = open_cuda(options);
    // From nothing but the shell to many waves of tiles; rows of whole vectors and others.
    const std::vector<std::int64_t> extents =
        GENERATE(std::vector<std::int64_t>{7}, std::vector<std::int64_t>{200001}, std::vector<std::int64_t>{1 << 21},
                 std::vector<std::int64_t>{61, 333}, std::vector<std::int64_t>{700, 1024},
                 std::vector<std::int64_t>{19, 20, 21}, std::vector<std::int64_t>{90, 64, 128});
    const Boundary mode = GENERATE(Boundary::periodic, Boundary::fixed, Boundary::mirror);
    const bool shape = GENERATE(true, false);
    CAPTURE(extents, mode, shape);
    const Taps taps = alternating_taps(int(extents.size()), shape);
    // Sums of integers up to 8 that stay exact: 8^17 is below 2^53.
    const StencilDesc desc{.extents = extents, .taps = taps, .boundary = mode, .steps = 16, .dtype = DType::f64};
    StencilPlan expecting(context, desc, {.operands = Memory::device, .algorithm = "naive"});
    StencilPlan plan(context, desc, {.operands = Memory::device, .algorithm = "streaming"});
    std::int64_t points = 1;
    for (const std::int64_t extent : extents) points *= extent;
    Field<double> field(context, 1, points);
    field.in.upload(integers(std::size_t(points)));
    expecting.execute(field.in.data(), field.out.data());
    const std::vector<double> expected = field.result();
    run_in_a_graph(stream, plan, field, expected);
  }
  succeed(cudaStreamDestroy(stream));
}

}  // namespace tessera::test
