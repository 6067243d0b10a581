// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include <tessera/distributed.hpp>

#include <cstdio>
#include <thread>
#include <vector>

namespace {

/// What every rank does: its block of the field, 100 steps of heat, and the field back to rank 0.
void rank_of_heat(const tessera::Comm& comm, std::vector<float>& field) {
  const tessera::Context context;
  const tessera::StencilDesc heat{.extents = {512, 512},
                                  .taps = tessera::taps::identity(2) + 0.1 * tessera::taps::laplacian(2),
                                  .boundary = tessera::Boundary::periodic,
                                  .steps = 100};
  tessera::DistributedStencilPlan plan(comm, context, heat, {}, {.operands = tessera::Memory::device});
  const tessera::Block block = plan.block();
  tessera::Buffer<float> in(context, block.elements), out(context, block.elements);  // the block and its halos

  plan.scatter(0, field.data(), in.data());
  plan.execute(in.data(), out.data());
  plan.gather(0, out.data(), field.data());
  if (comm.rank() == 0) std::printf("%s\n", plan.describe().c_str());
}

}  // namespace

int main() {
  std::vector<float> field(512 * 512);
  field[256 * 512 + 256] = 1.0f;
  std::vector<tessera::Comm> comms = tessera::Comm::threads(2);  // or tessera::mpi::comm(MPI_COMM_WORLD)
  std::thread other([&] { rank_of_heat(comms[1], field); });
  rank_of_heat(comms[0], field);
  other.join();

  double sum = 0.0;
  for (const float value : field) sum += value;
  std::printf("heat that is left: %.3f\n", sum);
  return sum > 0.999 && sum < 1.001 ? 0 : 1;
}
