// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// tessera-perf-mpi: tessera-perf-distributed whose ranks are those of mpirun.

#include "options.hpp"
#include "station.hpp"

#include <tessera/mpi.hpp>

#include <dlfcn.h>

#include <chrono>
#include <exception>
#include <thread>

namespace tessera::perf {
namespace {

class MpiGroup : public Group {
 public:
  MpiGroup() : comm_(mpi::comm(MPI_COMM_WORLD)) {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &rank_on_host_);
    MPI_Comm_size(host, &ranks_on_host_);
    MPI_Comm_free(&host);
  }
  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }
  int rank_on_host() const override { return rank_on_host_; }
  int ranks_on_host() const { return ranks_on_host_; }
  const Comm& comm() const override { return comm_; }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  /// Waits asleep: polling would take the processor, and the memory's rate, from a rank that computes alone.
  void all_gather(const void* mine, void* all, std::size_t bytes) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(mine, int(bytes), MPI_BYTE, all, int(bytes), MPI_BYTE, MPI_COMM_WORLD, &request);
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  void exchange(const void* sent, void* received, std::size_t bytes, int peer) override {
    MPI_Sendrecv(sent, int(bytes), MPI_BYTE, peer, 0, received, int(bytes), MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }

 private:
  Comm comm_;
  int rank_on_host_ = 0, ranks_on_host_ = 1;
};

/// The first line of what MPI says of itself.
std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, std::size_t(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

#if defined(TESSERA_PERF_SCALAPACK)
/// As many threads as ours, of the OpenBLAS that this program was linked with.
void set_blas(int threads, Facts& facts) {
  facts.emplace_back("scalapack", TESSERA_PERF_SCALAPACK);
  if (auto* const set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(threads);
  auto* const config = reinterpret_cast<char* (*)()>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  facts.emplace_back("openblas", config != nullptr ? config() : "none: the BLAS is the system's");
}
#endif

int run(int argc, char** argv) {
  MpiGroup group;
  ScalingOptions options;
  if (const int code = parse_scaling(argc, argv, options); code >= 0) return code;
  if (options.ranks != 0) throw UsageError{"--ranks: mpirun says how many ranks there are"};
  if (options.threads == 0)
    options.threads = std::max(1, int(std::thread::hardware_concurrency()) / group.ranks_on_host());
  Facts facts{{"transport", mpi_version()}};
  std::unique_ptr<ProductPeer> peer;
#if defined(TESSERA_PERF_SCALAPACK)
  peer = make_pdgemm();
  set_blas(options.threads, facts);
#endif
  return run_rank(group, options, facts, peer.get());
}

}  // namespace
}  // namespace tessera::perf

int main(int argc, char** argv) {
  int provided = 0;
  bool done = false;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  const int code = tessera::perf::run_program("tessera-perf-mpi", [&] {
    const int result = tessera::perf::run(argc, argv);
    done = true;
    return result;
  });
  if (!done) MPI_Abort(MPI_COMM_WORLD, code);  // the others may wait for this rank
  MPI_Finalize();
  return code;
}
