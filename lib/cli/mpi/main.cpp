// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera-mpi: what `tessera` does with files, by the ranks that mpiexec starts. Only rank 0 prints.

#include "clip.hpp"
#include "mpi_commands.hpp"
#include "numbers.hpp"
#include "program.hpp"
#include "ranks.hpp"
#include "taps_spec.hpp"

#include <tessera/mpi.hpp>

#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

namespace tessera::cli {

int short_count(std::int64_t count, const std::string& what) {
  if (count > std::numeric_limits<int>::max())
    throw std::invalid_argument(what + " = " + std::to_string(count) + ": must be at most 2147483647");
  return int(count);
}

std::vector<std::int64_t> parse_counts(const std::string& text, const std::string& what, std::size_t least,
                                       std::size_t most) {
  std::vector<std::int64_t> counts;
  for (const std::string& part : split(text, 'x')) counts.push_back(short_count(parse_count(part, what), what));
  if (counts.size() < least || counts.size() > most)
    throw std::invalid_argument(what + " = " + npy::clip(text) + ": expected " +
                                (least == most ? "" : std::to_string(least) + " to ") + std::to_string(most) +
                                " numbers with x between them");
  return counts;
}

namespace {

constexpr char kName[] = "tessera-mpi";

int run(const Ranks& ranks, int argc, char** argv) {
  CLI::App app("Matrix products and stencils on files, by the processes that mpiexec starts.", kName);
  set_up(app);
  Run command;
  add_mpi_gemm(app, command, ranks);
  add_mpi_stencil(app, command, ranks);
  try {
    return run_program(
        app, argc, argv, [&] { command(); }, ranks.is_first());
  } catch (const KnownFailure& failure) {
    return ranks.is_first() ? fail(kName, failure.what()) : kFailure;
  }
}

}  // namespace

}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  prepare_process();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int code = kFailure;
  try {
    code = run(Ranks(), argc, argv);
  } catch (const std::exception& error) {  // the others wait for this rank
    fail(kName, error.what());
    MPI_Abort(MPI_COMM_WORLD, kFailure);
  }
  MPI_Finalize();
  return code;
}
