// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Several plans at the same time: on one stream, on two, and from two threads.

#include "runner.hpp"
#include "takes.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

namespace tessera::test {

namespace {

constexpr std::int64_t kPlanes = 12, kRows = 14, kColumns = 25, kPoints = kPlanes * kRows * kColumns;

/// The star of radius 2, all of whose taps but one are 0: out = factor * in, shifted along rows.
StencilDesc shifted(std::vector<std::int64_t> extents, Boundary boundary, double factor, std::int64_t shift) {
  const int axes = int(extents.size());
  Taps taps(axes);
  taps.add({0, 0, 0}, 0.0);
  for (int axis = 0; axis < axes; ++axis)
    for (const std::int64_t offset : {-2, -1, 1, 2}) {
      std::array<std::int64_t, 3> at{};
      at[std::size_t(axis)] = offset;
      taps.add(at, axis + 1 == axes && offset == shift ? factor : 0.0);
    }
  return {.extents = extents, .taps = taps, .boundary = boundary};
}

/// The same on a plane by taps that fill a box, 3 x 5: products of factors.
StencilDesc shifted_box(double factor, std::int64_t shift) {
  Taps taps(2);
  for (std::int64_t row = -1; row <= 1; ++row)
    for (std::int64_t column = -2; column <= 2; ++column)
      taps.add({row, column, 0}, row == 0 && column == shift ? factor : 0.0);
  return {.extents = {kPlanes * kRows, kColumns}, .taps = taps, .boundary = Boundary::periodic};
}

/// A stencil on device memory whose result tells which coefficients it used: the first that the algorithm takes of a
/// plane, a volume with fixed sides, and a plane with taps in a box.
struct Job {
  Job(Context& context, const std::string& algorithm, double factor, std::int64_t shift)
      : in(context, kPoints),
        out(context, kPoints),
        desc(first_taken(
            context, algorithm,
            {shifted({kPlanes * kRows, kColumns}, Boundary::periodic, factor, shift),
             shifted({kPlanes, kRows, kColumns}, Boundary::fixed, factor, shift), shifted_box(factor, shift)})),
        plan(context, desc, {.operands = Memory::device, .algorithm = algorithm}) {
    std::vector<float> values(std::size_t(kPoints), -1.0f);
    out.upload(values);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 1000);
    in.upload(values);
    const auto inside = [](std::int64_t i, std::int64_t extent) { return i >= 2 && i < extent - 2; };
    for (std::int64_t p = 0; p < kPoints; ++p) {
      const std::int64_t column = p % kColumns, row = p / kColumns % kRows, layer = p / kColumns / kRows;
      const bool applies =
          desc.extents.size() == 2 || (inside(layer, kPlanes) && inside(row, kRows) && inside(column, kColumns));
      const float from = values[std::size_t(p - column + (column + shift) % kColumns)];
      expected.push_back(applies ? float(factor) * from : values[std::size_t(p)]);
    }
  }
  void queue() { plan.execute(in.data(), out.data()); }
  bool right() {
    std::vector<float> values(expected.size());
    out.download(values);
    return values == expected;
  }

  Buffer<float> in, out;
  std::vector<float> expected;
  StencilDesc desc;
  StencilPlan plan;
};

}  // namespace

TEST_CASE("plans with different coefficients on two contexts do not disturb each other", "[streams]") {
  Subject subject, other;
  for (const std::string& name : subject.tested(TESSERA_OP_STENCIL)) {
    INFO("algorithm " << name);
    std::optional<Job> jobs[4];
    for (int i = 0; i < 4; ++i)
      jobs[i].emplace(i % 2 == 0 ? subject.context() : other.context(), name, 2.0 + i, 1 + i / 2);
    for (int round = 0; round < 50; ++round)
      for (auto& job : jobs) job->queue();
    for (auto& job : jobs) CHECK(job->right());
  }
}

TEST_CASE("plans of one device run from several threads at once", "[streams]") {
  Subject subject;
  const auto names = subject.algorithms(TESSERA_OP_STENCIL);
  std::atomic<int> wrong{0};
  const auto work = [&](int me) {
    Context own(subject.spec());
    for (int round = 0; round < 10; ++round)
      for (const std::string& name : names) {
        Job job(own, name, 2.0 + me + round, 1 + me % 2);
        for (int i = 0; i < 10; ++i) job.queue();
        if (!job.right()) ++wrong;
      }
  };
  std::vector<std::jthread> threads;
  for (int me = 0; me < 3; ++me) threads.emplace_back(work, me);
  threads.clear();  // joins
  CHECK(wrong == 0);
}

TEST_CASE("plans and buffers may go while their work is queued", "[streams]") {
  Subject subject;
  std::optional<Context> context(std::in_place, subject.spec());
  std::optional<Job> job(std::in_place, *context, subject.algorithms(TESSERA_OP_STENCIL).front(), 3.0, 2);
  context.reset();  // the job keeps what it needs
  for (int i = 0; i < 100; ++i) job->queue();
  CHECK(job->right());
  for (int i = 0; i < 100; ++i) job->queue();
  job.reset();
}

TEST_CASE("uploads, executions and downloads of a context happen in order", "[streams]") {
  Subject subject;
  Job job(subject.context(), subject.algorithms(TESSERA_OP_STENCIL).front(), 5.0, 2);
  const std::vector<float> zeros(job.expected.size(), 0.0f);
  std::vector<float> input(job.expected.size()), output(job.expected.size());
  job.in.download(input);
  for (int round = 0; round < 20; ++round) {
    job.in.upload(zeros);
    job.queue();
    job.out.download(output);
    CHECK(output == zeros);
    job.in.upload(input);
    job.queue();
    CHECK(job.right());
  }
}

TEST_CASE("a stencil plan of many steps needs one more array at most, or 64 MiB", "[workspace]") {
  Subject subject;
  for (const std::string& name : subject.tested(TESSERA_OP_STENCIL))
    for (const std::int64_t steps : {2, 9, 100}) {
      const StencilDesc desc = first_taken(
          subject.context(), name,
          {{.extents = {300, 400}, .taps = star(2, 1, Weights::contracting), .steps = steps},
           {.extents = {20, 60, 100}, .taps = star(3, 1, Weights::contracting), .steps = steps},
           {.extents = {300, 400}, .taps = product(2, {-1, -1, 0}, {3, 3, 1}, Weights::contracting), .steps = steps}});
      StencilPlan plan(subject.context(), desc, {.operands = Memory::device, .algorithm = name});
      INFO(plan.describe());
      const std::size_t array = 120000 * sizeof(float) + 4096;                          // and padding
      const bool persistent = plan.algorithm().substr(0, name.size()) == "persistent";  // exchanges parts of its tiles
      CHECK(plan.workspace_bytes() <= (persistent ? std::size_t(64) << 20 : array));
    }
}

TEST_CASE("a GEMM plan's workspace keeps to its limit, or to what the caller hands in", "[workspace]") {
  Subject subject;
  const GemmDesc desc{.m = 64, .n = 64, .k = 65536};  // invites a split of k
  for (const std::string& name : subject.tested(TESSERA_OP_GEMM))
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 20}) {
      INFO("algorithm " << name << ", limit " << limit);
      try {
        GemmPlan plan(subject.context(), desc,
                      {.operands = Memory::device, .algorithm = name, .workspace_limit = limit});
        CHECK(plan.workspace_bytes() <= (limit == 0 ? std::uint64_t{64} << 20 : limit));
      } catch (const Error& error) {  // an algorithm that cannot do without says so
        CHECK(error.code() == ErrorCode::unsupported);
      }
    }
}

}  // namespace tessera::test
