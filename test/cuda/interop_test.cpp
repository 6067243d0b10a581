// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// The library beside a program's own use of CUDA: its streams, its graphs, its current device, its memory.

#include "cuda_support.hpp"
#include "takes.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

using Shape = std::array<std::int64_t, 3>;

constexpr std::int64_t kSize = 600;              // chains takes 4096 elements of A or B
constexpr std::int64_t kRows = 8, kColumns = 8;  // chains takes 8

struct Stream {
  Stream() { succeed(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(handle); }
  cudaStream_t handle = nullptr;
};

ContextOptions wrapping(const Stream& stream) {
  ContextOptions options;
  options.native_stream = stream.handle;
  return options;
}

std::vector<std::string> algorithms(tessera_op op) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < tessera_backend_count(); ++i) {
    tessera_backend_info info{};
    info.struct_size = sizeof info;
    REQUIRE(tessera_get_backend_info(i, &info, nullptr) == TESSERA_OK);
    if (std::string(info.name) != "cuda") continue;
    while (const char* name = tessera_algorithm_name(i, op, std::int64_t(names.size()))) names.emplace_back(name);
  }
  REQUIRE_FALSE(names.empty());
  return names;
}

/// C = A B with all elements of A one, so that C(i, j) is the sum of B's column j. Few rows and columns: every
/// algorithm takes it.
template <class T>
struct ProductOf {
  ProductOf(Context& context, const std::string& algorithm, bool mirrored = false)
      : a(context, kRows * kSize),
        b(context, kSize * kColumns),
        c(context, kRows * kColumns),
        plan(context,
             {.m = kRows,
              .n = kColumns,
              .k = kSize,
              .dtype = kDType<T>,
              .trans_b = mirrored ? Transpose::yes : Transpose::no,
              .triangle = mirrored ? Triangle::mirrored : Triangle::none},
             {.operands = Memory::device, .algorithm = algorithm}) {
    a.upload(std::vector<T>(std::size_t(kRows * kSize), T(1)));
    set_b(1.0f);
  }
  void set_b(float value) { b.upload(std::vector<T>(std::size_t(kSize * kColumns), T(value))); }
  void clear() { c.upload(std::vector<T>(std::size_t(kRows * kColumns), T(-1))); }
  void execute() { plan.execute(Scalar<T>(1), a.data(), b.data(), Scalar<T>(0), c.data()); }
  bool is(float expected) {
    std::vector<T> values(std::size_t(kRows * kColumns));
    c.download(values);
    return std::all_of(values.begin(), values.end(), [&](T v) { return v == T(expected); });
  }
  Buffer<T> a, b, c;
  GemmPlan plan;
};
using Product = ProductOf<float>;

/// Points times a factor: on a periodic plane, as a star of radius 1 or, where the algorithm takes none, as a box, else
/// as a star inside a volume with fixed sides.
StencilDesc scaled(Context& context, const std::string& algorithm, const Shape& volume, double factor, int steps) {
  const Taps flat(2, {{{0, 0, 0}, factor}, {{0, 1, 0}, 0.0}, {{0, -1, 0}, 0.0}, {{1, 0, 0}, 0.0}, {{-1, 0, 0}, 0.0}});
  const Taps star(3, {{{0, 0, 0}, factor},
                      {{-1, 0, 0}, 0.0},
                      {{1, 0, 0}, 0.0},
                      {{0, -1, 0}, 0.0},
                      {{0, 1, 0}, 0.0},
                      {{0, 0, -1}, 0.0},
                      {{0, 0, 1}, 0.0}});
  Taps box(2);
  for (std::int64_t row = -1; row <= 1; ++row)
    for (std::int64_t column = -1; column <= 1; ++column)
      box.add({row, column, 0}, row == 0 && column == 0 ? factor : 0.0);
  const auto plane = [&](const Taps& taps) {
    return StencilDesc{
        .extents = {volume[0] * volume[1], volume[2]}, .taps = taps, .boundary = Boundary::periodic, .steps = steps};
  };
  return first_taken(
      context, algorithm,
      {plane(flat), plane(box), {.extents = {volume[0], volume[1], volume[2]}, .taps = star, .steps = steps}});
}

bool is_at_side(std::int64_t point, const Shape& volume) {
  const std::int64_t at[] = {point / volume[2] / volume[1], point / volume[2] % volume[1], point % volume[2]};
  for (int axis = 0; axis < 3; ++axis)
    if (at[axis] == 0 || at[axis] + 1 == volume[std::size_t(axis)]) return true;
  return false;
}

/// What was captured while `body` ran.
template <class Body>
cudaGraphExec_t captured(cudaStream_t stream, Body&& body) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  succeed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  body();
  succeed(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  succeed(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes > 0);
  succeed(cudaGraphInstantiate(&executable, graph, 0));
  succeed(cudaGraphDestroy(graph));
  return executable;
}

}  // namespace

TEST_CASE("a wrapped stream carries the work, and stays the caller's") {
  open_cuda();
  const Stream stream;
  {
    Context context = open_cuda(wrapping(stream));
    CHECK(context.native_stream() == stream.handle);
    Product product(context, "");
    product.clear();
    product.execute();
    succeed(cudaStreamSynchronize(stream.handle));  // the library is not asked
    std::vector<float> values(std::size_t(kRows * kColumns));
    succeed(cudaMemcpy(values.data(), product.c.data(), values.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(values.front() == float(kSize));
    CHECK(values.back() == float(kSize));
  }
  succeed(cudaStreamSynchronize(stream.handle));
}

TEST_CASE("the default stream can be wrapped as well") {
  open_cuda();
  ContextOptions options;
  options.native_stream = nullptr;  // cudaStream_t 0
  Context context = open_cuda(options);
  CHECK(context.native_stream() == nullptr);
  Product product(context, "");
  product.execute();
  CHECK(product.is(float(kSize)));
}

/// Captured once, replayed with two matrices B.
template <class T>
void replay(Context& context, const Stream& stream, ProductOf<T> product) {
  product.execute();
  context.synchronize();
  const cudaGraphExec_t graph = captured(stream.handle, [&] { product.execute(); });
  for (const float value : {2.0f, 3.0f}) {
    product.clear();
    product.set_b(value);
    succeed(cudaGraphLaunch(graph, stream.handle));
    CHECK(product.is(value * float(kSize)));
  }
  succeed(cudaGraphExecDestroy(graph));
}

TEST_CASE("GEMM executions can be captured into a graph and replayed") {
  open_cuda();
  const Stream stream;
  Context context = open_cuda(wrapping(stream));
  for (const std::string& name : algorithms(TESSERA_OP_GEMM)) {
    if (name.starts_with("warpgroup")) continue;  // of 16 bits, of f32 in other arithmetic: below
    if (name == "elementwise") continue;          // of k = 0
    INFO("algorithm " << name);
    if (name == "doubled")
      replay(context, stream, ProductOf<std::complex<float>>(context, name));
    else
      replay(context, stream, Product(context, name, name == "triangles"));
  }
}

TEST_CASE("executions of warpgroup can be captured into a graph and replayed") {
  open_cuda();
  require_hopper();
  const Stream stream;
  Context context = open_cuda(wrapping(stream));
  for (const std::int64_t n : {128, 127}) {  // the latter is copied before
    Buffer<bfloat16> a(context, n * n), b(context, n * n), d(context, n * n);
    std::vector<bfloat16> values(std::size_t(n * n), bfloat16(1.0f));
    a.upload(values);
    GemmPlan plan(context, {.m = n, .n = n, .k = n, .dtype = DType::bf16},
                  {.operands = Memory::device, .algorithm = "warpgroup:split=2"});
    const cudaGraphExec_t graph =
        captured(stream.handle, [&] { plan.execute(1.0f, a.data(), b.data(), 0.0f, d.data()); });
    for (const float value : {1.0f, 2.0f}) {
      b.upload(std::vector<bfloat16>(values.size(), bfloat16(value)));
      succeed(cudaGraphLaunch(graph, stream.handle));
      d.download(values);
      CHECK(std::ranges::all_of(values, [&](bfloat16 v) { return float(v) == value * float(n); }));
    }
    succeed(cudaGraphExecDestroy(graph));
  }
}

TEST_CASE("a plan measures on a device, and not while its stream is being captured") {
  open_cuda();
  const Stream stream;
  Context context = open_cuda(wrapping(stream));
  wisdom::forget();
  const GemmDesc desc{.m = 500, .n = 300, .k = 700};
  const PlanOptions measure{.operands = Memory::device, .effort = Effort::measure};
  Buffer<float> a(context, desc.m * desc.k), b(context, desc.k * desc.n), d(context, desc.m * desc.n);
  const std::vector<float> ones(std::size_t(desc.m * desc.k), 1.0f);
  a.upload(ones), b.upload(std::span(ones).first(std::size_t(desc.k * desc.n)));
  GemmPlan plain(context, desc, {.operands = Memory::device});
  std::string refusal;
  const cudaGraphExec_t graph = captured(stream.handle, [&] {
    try {
      GemmPlan(context, desc, measure);
    } catch (const Error& error) {
      refusal = error.what();
    }
    plain.execute(1.0f, a.data(), b.data(), 0.0f, d.data());
  });
  CHECK(refusal.starts_with("effort = measure: "));
  CHECK(refusal.find("captured graph") != std::string::npos);
  succeed(cudaGraphLaunch(graph, stream.handle));
  std::vector<float> result(std::size_t(desc.m * desc.n));
  d.download(result);
  CHECK(std::ranges::all_of(result, [&](float v) { return v == float(desc.k); }));  // the capture was not spoilt
  succeed(cudaGraphExecDestroy(graph));
  CHECK(GemmPlan(context, desc, measure).describe().ends_with("| measured"));
  GemmPlan known(context, desc, measure);
  CHECK(known.describe().ends_with("| from wisdom"));
  known.execute(1.0f, a.data(), b.data(), 0.0f, d.data());
  d.download(result);
  CHECK(std::ranges::all_of(result, [&](float v) { return v == float(desc.k); }));
  wisdom::forget();
}

TEST_CASE("executions in other arithmetic than strict can be captured into a graph and replayed") {
  open_cuda();
  require_hopper();
  const Stream stream;
  Context context = open_cuda(wrapping(stream));
  for (const Compute compute : {Compute::bf16x6, Compute::f16x3, Compute::tf32}) {
    constexpr std::int64_t n = 127;
    Buffer<float> a(context, n * n), b(context, n * n), d(context, n * n);
    std::vector<float> values(std::size_t(n * n), 1.0f);
    a.upload(values);
    const std::string name = compute == Compute::tf32 ? "warpgroup" : "warpgroup_f32";
    const std::string algorithm = name + ":split=2,compute=" + std::to_string(int(compute));
    GemmPlan plan(context, {.m = n, .n = n, .k = n, .compute = compute},
                  {.operands = Memory::device, .algorithm = algorithm});
    const cudaGraphExec_t graph =
        captured(stream.handle, [&] { plan.execute(1.0f, a.data(), b.data(), 0.0f, d.data()); });
    for (const float value : {1.0f, 2.0f}) {
      b.upload(std::vector<float>(values.size(), value));
      succeed(cudaGraphLaunch(graph, stream.handle));
      d.download(values);
      CHECK(std::ranges::all_of(values, [&](float v) { return v == value * float(n); }));
    }
    succeed(cudaGraphExecDestroy(graph));
  }
}

TEST_CASE("stencil executions can be captured into a graph and replayed") {
  open_cuda();
  const Stream stream;
  Context context = open_cuda(wrapping(stream));
  constexpr Shape volume{10, 20, 50};
  constexpr std::int64_t points = volume[0] * volume[1] * volume[2];
  Buffer<float> in(context, points), out(context, points);
  std::vector<float> values(std::size_t{points});
  for (const std::string& name : algorithms(TESSERA_OP_STENCIL))
    for (const int steps : {1, 4}) {
      INFO("algorithm " << name << ", steps " << steps);
      const StencilDesc desc = scaled(context, name, volume, 2.0, steps);
      StencilPlan plan(context, desc, {.operands = Memory::device, .algorithm = name});
      const cudaGraphExec_t graph = captured(stream.handle, [&] { plan.execute(in.data(), out.data()); });
      for (const float value : {1.0f, 5.0f}) {
        in.upload(std::vector<float>(values.size(), value));
        succeed(cudaGraphLaunch(graph, stream.handle));
        out.download(values);
        std::int64_t wrong = 0;
        for (std::int64_t p = 0; p < points; ++p) {
          const bool kept = desc.extents.size() == 3 && is_at_side(p, volume);
          wrong += values[std::size_t(p)] != (kept ? value : value * float(1 << steps));
        }
        CHECK(wrong == 0);
      }
      succeed(cudaGraphExecDestroy(graph));
    }
}

TEST_CASE("the caller's current device is left alone") {
  open_cuda();
  int count = 0;
  succeed(cudaGetDeviceCount(&count));
  for (int mine = 0; mine < count; ++mine) {
    succeed(cudaSetDevice(mine));
    const auto unchanged = [&](const char* what) {
      int current = -1;
      succeed(cudaGetDevice(&current));
      INFO("after " << what);
      CHECK(current == mine);
    };
    Context context("cuda:" + std::to_string(count - 1 - mine));
    unchanged("making a context");
    std::optional<Product> product(std::in_place, context, "");
    unchanged("making plans and buffers");
    product->execute();
    unchanged("executing");
    CHECK(product->is(float(kSize)));
    unchanged("downloading");
    product.reset();
    unchanged("destroying");
  }
  succeed(cudaSetDevice(0));
}

TEST_CASE("memory of the caller's own can be an operand") {
  Context context = open_cuda();
  const std::vector<double> in = {1, 2, 3, 4, 5, 6};
  std::vector<double> out(6);
  double* device = nullptr;
  succeed(cudaMalloc(reinterpret_cast<void**>(&device), 12 * sizeof(double)));
  succeed(cudaMemcpy(device, in.data(), 6 * sizeof(double), cudaMemcpyHostToDevice));
  StencilPlan plan(
      context,
      {.extents = {6}, .taps = Taps(1, {{{1, 0, 0}, 2.0}}), .boundary = Boundary::periodic, .dtype = DType::f64},
      {.operands = Memory::device});
  plan.execute(device, device + 6);
  context.synchronize();
  succeed(cudaMemcpy(out.data(), device + 6, 6 * sizeof(double), cudaMemcpyDeviceToHost));
  CHECK(out == std::vector<double>{4, 6, 8, 10, 12, 2});
  succeed(cudaFree(device));
}

TEST_CASE("plans may be destroyed while a long queue still runs") {
  Context context = open_cuda();
  constexpr Shape volume{32, 64, 2048};
  constexpr std::int64_t points = volume[0] * volume[1] * volume[2];
  Buffer<float> in(context, points), out(context, points);
  in.upload(std::vector<float>(std::size_t{points}, 1.0f));
  for (const std::string& name : algorithms(TESSERA_OP_STENCIL)) {
    INFO("algorithm " << name);
    {
      StencilPlan plan(context, scaled(context, name, volume, 1.0, 200),
                       {.operands = Memory::device, .algorithm = name});
      plan.execute(in.data(), out.data());
    }
    std::vector<float> values(std::size_t{points});
    out.download(values);
    CHECK(std::all_of(values.begin(), values.end(), [](float v) { return v == 1.0f; }));
  }
}

TEST_CASE("more than the device's memory is an error that gives both figures") {
  Context context = open_cuda();
  std::size_t free = 0, total = 0;
  succeed(cudaMemGetInfo(&free, &total));
  try {
    Buffer<char> buffer(context, std::int64_t(total) * 4);
    FAIL_CHECK("nothing was thrown");
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(error.code() == ErrorCode::out_of_memory);
    CHECK(std::string(error.what()).find(std::to_string(total * 4)) != std::string::npos);
  }
  Product product(context, "");
  product.execute();
  CHECK(product.is(float(kSize)));
}

}  // namespace tessera::test
