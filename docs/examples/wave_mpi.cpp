// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// mpiexec -n 2 tessera-wave-mpi: a wave in two halves of different speed, of which each rank steps a block. Rank 0
/// then steps the whole by itself and compares the bits.

#include <tessera/mpi.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr int kSteps = 100, kReceivers = 2;

/// All ranks get the series; rank 0 gets the field of the whole domain.
struct Shot {
  std::vector<float> field, seismogram;
};

/// All ranks of the group call it.
Shot shoot(const tessera::Comm& comm) {
  tessera::StencilSystem wave({48, 40, 64});
  const auto u = wave.state("u", {.levels = 2});
  const auto c2 = wave.array("c2");
  wave.update(u) = 2 * u - u[-1] + c2 * u.under(tessera::taps::laplacian(3, 8));
  wave.inject(u, {{{24, 20, 10}}, {1.0}, {0}, 1});
  wave.record(u, {{{12, 20, 20}, {36, 20, 20}}, {1.0, 1.0}, {0, 1}, kReceivers});

  const tessera::Context context;
  tessera::DistributedSystemPlan plan(comm, context, wave, kSteps, {}, {.operands = tessera::Memory::device});
  const std::int64_t elements = plan.block().elements;  // the block and its halos
  tessera::Buffer<float> now(context, elements), before(context, elements), speed(context, elements);
  tessera::Buffer<float> source(context, kSteps), recorded(context, kSteps * kReceivers);

  Shot shot{std::vector<float>(48 * 40 * 64), std::vector<float>(kSteps * kReceivers)};
  std::vector<float> pulse(kSteps);
  for (std::size_t i = 0; i < shot.field.size(); ++i) shot.field[i] = i < shot.field.size() / 2 ? 0.1f : 0.05f;
  for (int n = 0; n < kSteps; ++n) pulse[std::size_t(n)] = std::exp(-0.01f * float((n - 30) * (n - 30)));
  const std::vector<float> silence(std::size_t(elements), 0.0f);
  now.upload(silence), before.upload(silence), source.upload(pulse);

  plan.scatter(0, c2, shot.field.data(), speed.data());
  plan.execute({{u, now, before}, {c2, speed}}, {{source}, {recorded}});
  plan.gather(0, u, plan.newest(u) == 0 ? now.data() : before.data(), shot.field.data());
  recorded.download(shot.seismogram);
  if (comm.rank() == 0) std::printf("%s\n", plan.describe().c_str());
  return shot;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// On rank 0 whether its own steps have the bits of all ranks' together.
bool compare() {
  const tessera::Comm comm = tessera::mpi::comm(MPI_COMM_WORLD);
  const Shot together = shoot(comm);
  if (comm.rank() != 0) return true;
  const Shot alone = shoot(tessera::Comm::self());
  const bool same = same_bits(together.field, alone.field) && same_bits(together.seismogram, alone.seismogram);
  const bool heard = std::fabs(alone.seismogram[kSteps * kReceivers - 1]) > 0.0f;  // else it would be easy
  std::printf("%d ranks: %s\n", comm.size(), same && heard ? "the bits of one" : "other bits than one");
  return same && heard;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool same = compare();
  MPI_Finalize();
  return same ? 0 : 1;
}
