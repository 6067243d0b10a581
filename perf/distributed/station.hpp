// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a rank measures with, and how all of them measure together.
#pragma once

#include "device_peers.hpp"
#include "group.hpp"
#include "measure.hpp"
#include "platform.hpp"
#include "recorder.hpp"
#include "scalings.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::perf {

struct ScalingOptions {
  std::string backend = "cpu", json;
  std::vector<std::string> cases;  ///< patterns; empty: all
  bool quick = false, peers = true, list = false, links = true;
  int ranks = 0, threads = 0;  ///< 0: a rank for each device of the backend; the processors that fall to a rank
  int depth = 0;               ///< steps between exchanges; 0: the library's choice
  std::int64_t passes = 9;     ///< samples of each row at least
  double budget = 0.2;         ///< seconds of measuring, for each row
};

/// Local matrices of a product on a grid of ranks, row-major and packed.
struct DealtProduct {
  int grid_rows, grid_columns;
  std::int64_t block_m, block_n, a_block_k, b_block_k;  ///< of op(A)'s columns and op(B)'s rows
  const void *a, *b;
  void* c;
};

/// Products on the ranks of a case by another library: see pdgemm.cpp.
class ProductPeer {
 public:
  virtual ~ProductPeer() = default;
  virtual std::string name() const = 0;
  virtual std::string unsupported(const Problem& problem) const = 0;
  /// C = A B. Collective, as what it returns.
  virtual std::function<void()> prepare(const Problem& problem, const DealtProduct& dealt) = 0;
};

/// ScaLAPACK over all processes of MPI_COMM_WORLD.
std::unique_ptr<ProductPeer> make_pdgemm();

/// A rank's: memory, clock and context of its device.
class Station {
 public:
  Station(Group& group, const ScalingOptions& options);

  Group& group;
  const ScalingOptions& options;
  std::unique_ptr<Device> device;
  std::unique_ptr<Context> context;           ///< on the device's stream
  std::unique_ptr<DevicePeers> device_peers;  ///< null on hosts, and where NCCL is not there
  ProductPeer* product_peer = nullptr;
  std::unique_ptr<Recorder> recorder;  ///< of rank 0; null on the others
  std::string no_device_peers;         ///< why there are none
  std::string place, backend;          ///< "host" or "cuda"; as in TESSERA_BACKEND, without the device

  Memory memory() const { return device->native_stream() != nullptr ? Memory::device : Memory::host; }
  bool is_root() const { return group.rank() == 0; }
  void leave_out(const std::string& name, const std::string& reason) const;
  /// The first of so many axes is cut.
  Decomposition cut(std::size_t axes) const;
  /// Device memory that goes with the pointer.
  std::shared_ptr<void> allocate(std::size_t bytes) const;
};

/// Something that is measured.
struct Subject {
  std::string name;               ///< "tessera:cpu:distributed", "peer:pdgemm"
  std::function<void()> execute;  ///< empty on ranks that wait for the others
  double work = 0.0;              ///< of all ranks that execute, in one execution
  double max_error = 0.0;         ///< relative to the bound; of the check before
  std::string label = {};
  std::vector<std::pair<std::string, double>> counters = {};
};

/// Collective. Takes samples of the subjects in turn; each is the time from where all ranks begin to where the last one
/// is done. Writes a row for each: <title>/<subject>.
void contest(const Station& station, const std::string& title, const std::vector<Subject>& subjects);

/// Collective. The rows of a case, in scaled.hpp.
void run_case(const Station& station, const ScalingCase& c);
/// Collective. What messages between the first two ranks take.
void run_links(const Station& station);

/// Collective. All of it. `facts` are of the transport. Returns the exit code.
int run_rank(Group& group, const ScalingOptions& options, Facts facts, ProductPeer* product_peer);

/// Returns the exit code where the program is done (--help, --list), else -1.
int parse_scaling(int argc, char** argv, ScalingOptions& options);
/// The devices of a backend that have memory of their own; 0 where it computes on the host.
int device_count(const std::string& backend);

}  // namespace tessera::perf
