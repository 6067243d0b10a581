// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Distributed stencils over MPI, by mpiexec: the scenario `stencils` ends with 0 where all is well; in `killed` a rank
/// is killed in an execution. Each rank has a cpu context of one thread.

#include "problems.hpp"
#include "random.hpp"
#include "world.hpp"

#include <tessera/mpi.hpp>
#include <tessera/tessera.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

namespace tessera::test {

namespace {

constexpr ContextOptions kOneThread{.threads = 1};

/// On how many ranks it is so.
int count(bool holds) {
  int mine = holds ? 1 : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Whether the problem was computed: its blocks may be too thin, which all ranks must say.
template <class T>
bool is_as_alone(const Comm& comm, Problem p, Random& random, const std::string& name) {
  const Context context("cpu", kOneThread);
  p.desc.dtype = kDType<T>;
  const std::vector<T> in = random_values<T>(random, p.points);
  std::vector<T> out(in.size(), std::numeric_limits<T>::quiet_NaN());
  const std::string error = thrown_by([&] { run_rank(comm, context, p, in, out); });
  if (const int failed = count(!error.empty()); failed > 0) {
    require(failed == comm.size(), name + ": " + std::to_string(failed) + " ranks failed, here: " + error);
    require(error.find("halo") != std::string::npos, name + ": " + error);
    return false;
  }
  if (comm.rank() == comm.size() - 1) {
    const std::vector<T> wanted = alone(context, p.desc, in);
    require(std::memcmp(out.data(), wanted.data(), out.size() * sizeof(T)) == 0, name + ": other bits than one rank's");
  }
  return true;
}

/// Every second problem has one mode on all sides, each in its turn; the sides of the others have any.
void test_bits(const Comm& comm) {
  constexpr int kTrials = 200, kModes = 6;  // a halo is not for domains
  Random random("distributed stencils over MPI");
  int computed[kModes] = {}, in_axes[3] = {};
  for (int trial = 0; trial < kTrials; ++trial) {
    Problem p = random_problem(random, comm.size());
    const int mode = trial / 2 % kModes;
    const BoundarySide side{kBoundaries[mode], kBoundaries[mode] == Boundary::constant ? 0.5 : 0.0};
    if (trial % 2 == 0) p.desc.boundary = side;
    const std::string name = "trial " + std::to_string(trial) + ", depth " + std::to_string(p.cut.depth);
    const bool done =
        trial % 3 == 0 ? is_as_alone<double>(comm, p, random, name) : is_as_alone<float>(comm, p, random, name);
    if (done && trial % 2 == 0) ++computed[mode];
    if (done) ++in_axes[p.desc.extents.size() - 1];
  }
  const int all = in_axes[0] + in_axes[1] + in_axes[2];
  if (comm.rank() == 0) std::printf("%d of %d problems were computed\n", all, kTrials);
  for (int mode = 0; mode < kModes; ++mode)
    require(computed[mode] > 0, std::string("no problem was computed with ") + name_of(kBoundaries[mode]));
  for (int axes = 1; axes <= 3; ++axes)
    require(in_axes[axes - 1] > 0, "no problem was computed in " + std::to_string(axes) + " axes");
}

const StencilDesc kHeat{
    .extents = {32, 20}, .taps = taps::identity(2) + 0.1 * taps::laplacian(2), .steps = 4, .sums = Sums::ordered};

/// The last rank passes what `change` makes of the descriptor: all get an error that says `what`.
template <class Change>
void test_other_descriptor(const Comm& comm, const std::string& what, Change&& change) {
  StencilDesc desc = kHeat;
  if (comm.rank() == comm.size() - 1) change(desc);
  const Context context("cpu", kOneThread);
  const std::string error = thrown_by([&] { const DistributedStencilPlan plan(comm, context, desc); });
  require(error.find(what) != std::string::npos, "ranks with other descriptors (" + what + "): " + error);
}

/// The last rank has no input: all fail, and compute later with the same plan.
void test_failed_execution(const Comm& comm) {
  const Context context("cpu", kOneThread);
  const int last = comm.size() - 1;
  DistributedStencilPlan plan(comm, context, kHeat, {.ranks = {comm.size(), 1}, .depth = 1});
  std::vector<float> field(32 * 20, 1.0f), in(std::size_t(plan.block().elements)), out(in.size());
  plan.scatter(0, field.data(), in.data());
  const std::string error = thrown_by([&] { plan.execute(comm.rank() == last ? nullptr : in.data(), out.data()); });
  require(error.find(comm.rank() == last ? "in = null" : "has failed") != std::string::npos,
          "an execution without input on one rank: " + error);
  plan.execute(in.data(), out.data());
  std::vector<float> result(field.size());
  plan.gather(0, out.data(), result.data());
  require(comm.rank() != 0 || result == alone(context, kHeat, field), "a plan is wrong after a failure");
}

void test_stencils() {
  const Comm comm = mpi::comm(MPI_COMM_WORLD);
  test_bits(comm);
  test_other_descriptor(comm, "extents[1]", [](StencilDesc& desc) { desc.extents = {32, 21}; });
  test_other_descriptor(comm, "steps = 5", [](StencilDesc& desc) { desc.steps = 5; });
  test_other_descriptor(comm, "boundary", [](StencilDesc& desc) { desc.boundary = Boundary::nearest; });
  test_other_descriptor(comm, "tap", [](StencilDesc& desc) { desc.taps = 2.0 * desc.taps; });
  test_failed_execution(comm);
}

/// Waits of a transport that end its process.
struct Killing {
  static inline decltype(tessera_transport::wait) wait = nullptr;
  static inline int waits_left = 0;

  static tessera_status wait_or_die(void* state, void* request, tessera_error* error) {
    if (waits_left > 0 && --waits_left == 0) {
      std::printf("left at %lld\n", static_cast<long long>(std::time(nullptr)));
      std::fflush(stdout);
      std::raise(SIGKILL);
    }
    return wait(state, request, error);
  }
};

/// Rank 1 is killed while others wait for its halos.
void test_killed() {
  tessera_transport transport = mpi::transport(MPI_COMM_WORLD);
  Killing::wait = transport.wait;
  transport.wait = Killing::wait_or_die;
  const Comm comm(transport);
  const Context context("cpu", kOneThread);
  DistributedStencilPlan plan(comm, context, kHeat, {.ranks = {comm.size(), 1}, .depth = 1});
  std::vector<float> in(std::size_t(plan.block().elements), 1.0f), out(in);
  plan.execute(in.data(), out.data());
  if (comm.rank() == 1) Killing::waits_left = 3;
  plan.execute(in.data(), out.data());
  MPI_Barrier(MPI_COMM_WORLD);  // rank 2 may have had all that it needs
  require(false, "rank " + std::to_string(comm.rank()) + " went on without rank 1");
}

}  // namespace

}  // namespace tessera::test

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "stencils";
  MPI_Init(&argc, &argv);
  tessera::test::share_seed();
  if (scenario == "killed")
    tessera::test::test_killed();
  else
    tessera::test::test_stencils();
  MPI_Finalize();
  return 0;
}
