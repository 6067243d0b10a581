// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a device to measure on must offer, and what competes there. Implemented in devices/ and peers/, in modules that
/// are loaded at run time, so that one program serves machines with and without them.
#pragma once

#include "problem.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::perf {

/// Seconds of a clock that never goes back.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Rates that no code exceeds. FLOP/s or bytes/s (copy: read + write). matrix_unit: by instructions of a warp; those
/// that a group of warps shares reach more on some devices, so that a share of it may be above 1. On the processor by
/// dot products of bf16, where it has them.
enum class Ceiling { fma, fma_one_thread, matrix_unit, matrix_unit_tf32, copy, copy_streaming, read, write };

/// Where operands live, and the clock of the work on them.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// The native stream that all work goes to, so that its clock sees it; null on hosts.
  virtual void* native_stream() const { return nullptr; }
  virtual std::size_t cache_bytes() const = 0;  ///< of the last level: beyond it an operand is cold
  virtual std::size_t free_bytes() const = 0;
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }  ///< for the report's head

  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  /// Element i becomes random_between<T>(seed, i, ...): of the usual range random_element<T>(seed, i).
  virtual void fill(void* data, DType dtype, std::int64_t count, std::uint64_t seed, Range range) = 0;
  virtual void poison(void* data, std::size_t bytes) = 0;  ///< every element a NaN
  virtual std::int64_t count_nan(const void* data, DType dtype, std::int64_t count) = 0;
  virtual void read(const void* data, DType dtype, std::span<const std::int64_t> where, double* values) = 0;

  /// Seconds that the work enqueued by `work` takes, waited for.
  virtual double time(const std::function<void()>& work) = 0;

  virtual std::vector<Ceiling> ceilings(DType dtype) const = 0;
  /// Measures now. `footprint`: bytes that the loop walks over, so that caches count as for the rows beside it; 0: far
  /// beyond the caches.
  virtual double measure(Ceiling ceiling, DType dtype, std::size_t footprint) = 0;
  /// True where the memory rates swing with other users of the machine and must be measured beside each row.
  virtual bool interleave() const = 0;
  /// Kernels that `work` enqueues, which does not run; none where that cannot be told.
  virtual std::optional<std::int64_t> kernels(const std::function<void()>& /*work*/) { return {}; }
  /// Copies between pinned host memory and the device, bytes/s; 0 where there is no bus.
  virtual double bus_rate(bool /*to_device*/, std::size_t /*bytes*/) { return 0.0; }
};

/// out = f(in...), with three pointers to inputs. Enqueues on a device; complete on return on the host. Of a system
/// `out` is the list of Problem::operands, a void**: the execution leaves it in the order that the next one takes.
using Execute = std::function<void(const void* const* in, void* out)>;

/// Where a result of 16 bits is rounded to its type.
enum class Rounding {
  once,               ///< at the end, as the library must
  before_activation,  ///< also what the activation is applied to, which one kernel stores and another reads
  in_parts,           ///< also sums of parts of k, 32 at most, which are added up in D's type
};

/// out = f(in...) in one way, and how that way rounds.
struct Candidate {
  Execute execute;
  Rounding rounding = Rounding::once;
};

/// An implementation: one algorithm of Tessera, or a peer.
class Competitor {
 public:
  virtual ~Competitor() = default;
  virtual std::string name() const = 0;               ///< "tessera:cpu:eigen", "peer:openblas"
  virtual std::string version() const { return {}; }  ///< of a peer's library, for the report's head
  /// Why it does not take part in the problem; "" where it does.
  virtual std::string unsupported(const Problem& problem) const = 0;
  virtual Execute prepare(const Problem& problem) = 0;
  /// The ways to run the problem, of which the fastest counts: the suite measures them all (see Selection). The same
  /// ones in the same order whenever it is asked.
  virtual std::vector<Candidate> candidates(const Problem& problem) { return {{prepare(problem), rounding()}}; }
  /// Bytes of workspace that what was prepared last takes; none where it is not known.
  virtual std::optional<std::uint64_t> workspace() const { return {}; }
  virtual Rounding rounding() const { return Rounding::once; }
  /// Whether the first execution on a set of operands takes longer than the others.
  virtual bool learns_operands() const { return false; }
  /// Whether a peer computes a triangle of A by its transpose, without the other half.
  virtual bool computes_triangles() const { return false; }
  /// Whether a peer multiplies complex matrices.
  virtual bool multiplies_complex() const { return false; }
  /// Whether a backend runs the problem in just this way where nobody forces an algorithm.
  virtual bool automatic(const Problem& /*problem*/) const { return false; }
};

/// Whether it takes part in the problem. Peers take A and B of one type, and few compute triangles.
inline bool takes_part(const Competitor& competitor, const Problem& problem) {
  const bool peer = competitor.name().starts_with("peer:");
  const bool of_peers = !problem.kind.is_mixed() && (!problem.gemm.is_triangle() || competitor.computes_triangles()) &&
                        (!problem.kind.is_complex || competitor.multiplies_complex());
  return (!peer || of_peers) && competitor.unsupported(problem).empty();
}

using Competitors = std::vector<std::unique_ptr<Competitor>>;

extern "C" {
/// What modules export. `stream` is the native stream to work on (devices), `threads` the CPU threads (hosts).
using MakeDevice = Device*(int device, int threads);
using AddPeers = void(Competitors* competitors, void* stream, int device, int threads);
/// Whether memory that a backend gave out is of the module's kind (devices).
using OwnsMemory = bool(const void* memory);
}

}  // namespace tessera::perf
