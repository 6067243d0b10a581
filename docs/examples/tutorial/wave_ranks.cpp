// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include <tessera/distributed.hpp>

#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int kSteps = 200, kReceivers = 3;

/// What every rank does: 200 steps of a wave in two halves of different speed, from a source to three receivers.
void rank_of_wave(const tessera::Comm& comm, std::vector<float>& seismogram) {
  tessera::StencilSystem wave({48, 40, 64});
  const auto u = wave.state("u", {.levels = 2});
  const auto c2 = wave.array("c2");
  wave.update(u) = 2 * u - u[-1] + c2 * u.under(tessera::taps::laplacian(3, 8));
  wave.inject(u, {{{24, 20, 10}}, {1.0}, {0}, 1});
  wave.record(u, {{{6, 20, 40}, {24, 20, 40}, {42, 20, 40}}, {1.0, 1.0, 1.0}, {0, 1, 2}, kReceivers});

  const tessera::Context context;
  tessera::DistributedSystemPlan plan(comm, context, wave, kSteps, {}, {.operands = tessera::Memory::device});
  const std::int64_t elements = plan.block().elements;  // the block and its halos
  tessera::Buffer<float> now(context, elements), before(context, elements), speed(context, elements);
  tessera::Buffer<float> source(context, kSteps), recorded(context, kSteps * kReceivers);

  std::vector<float> whole(48 * 40 * 64), pulse(kSteps), silence(std::size_t(elements), 0.0f);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = i < whole.size() / 2 ? 0.1f : 0.05f;
  for (int n = 0; n < kSteps; ++n) pulse[std::size_t(n)] = std::exp(-0.01f * float((n - 30) * (n - 30)));
  now.upload(silence), before.upload(silence), source.upload(pulse);
  plan.scatter(0, c2, whole.data(), speed.data());
  plan.execute({{u, now, before}, {c2, speed}}, {{source}, {recorded}});
  if (comm.rank() == 0) recorded.download(seismogram), std::printf("%s\n", plan.describe().c_str());
}

}  // namespace

int main() {
  std::vector<float> seismogram(kSteps * kReceivers);
  std::vector<tessera::Comm> comms = tessera::Comm::threads(2);  // or tessera::mpi::comm(MPI_COMM_WORLD)
  std::vector<float> unused(seismogram);
  std::thread other([&] { rank_of_wave(comms[1], unused); });
  rank_of_wave(comms[0], seismogram);
  other.join();

  int first[kReceivers] = {};  // the step in which the wave arrives
  for (int r = 0; r < kReceivers; ++r)
    while (first[r] < kSteps && std::fabs(seismogram[std::size_t(first[r] * kReceivers + r)]) < 1e-4f) ++first[r];
  std::printf("the wave arrives in steps %d, %d and %d\n", first[0], first[1], first[2]);
  return first[0] < first[2] && first[2] < kSteps ? 0 : 1;
}
