// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A platform to measure on: the device that holds the operands, and everything that competes there.
#pragma once

#include "device.hpp"

#include <tessera/tessera.hpp>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::perf {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// A backend, and its algorithms.
struct Backend {
  Backend(std::string n, tessera::Context c) : name(std::move(n)), context(std::move(c)) {}
  std::string name;  ///< as in TESSERA_BACKEND, without the device
  tessera::Context context;
  Competitors algorithms;
};

/// Backends that compute on the same device compete there with each other and with one set of peers.
struct Platform {
  std::string name;         ///< "host" or "cuda": the suite's module that measures there
  bool own_memory = false;  ///< operands live in the device's memory, not in the host's
  int index = 0;            ///< of the device
  int threads = 0;
  std::unique_ptr<Device> device;  ///< its clock sees the stream that all work goes to
  std::vector<std::unique_ptr<Backend>> backends;
  Competitors peers;
};
using Platforms = std::vector<std::unique_ptr<Platform>>;

/// Version, commit, processor and clocks: what a figure means nothing without.
Facts machine_facts();

/// The algorithms of all backends of a platform, then its peers.
std::vector<Competitor*> all_competitors(const Platform& platform);

/// What could not be had, and why.
using LeftOut = std::vector<std::pair<std::string, std::string>>;

/// Whether a context computes on a stream; the others do on the host.
bool has_stream(tessera::Context& context);
/// The part of the suite that measures where a context computes, "host" or "cuda". Throws where there is none.
std::string platform_of(tessera::Context& context);

/// Opens a backend ("cpu", "cpu-v3", "cuda:1") on its platform; the first backend there opens the platform. Throws
/// where the backend, or the suite's module for its device, is not available.
void open_backend(Platforms& platforms, const std::string& backend, int threads, Facts& facts, LeftOut& left_out);

/// The ceilings of a platform. A ceiling is measured when it is first asked for and, where the machine's memory rates
/// swing, again beside every row.
class Ceilings {
 public:
  explicit Ceilings(Platform& platform) : platform_(&platform) {}
  double rate(Ceiling ceiling, DType dtype, std::size_t footprint);

  struct Floor {
    double seconds = 0.0;  ///< no execution is faster
    std::string binding;   ///< "fma", "copy"...
    double rate = 0.0;     ///< of the binding ceiling
  };
  Floor floor(const Problem& problem, bool hot);

 private:
  struct Measured {
    double rate = 0.0, when = 0.0;
  };
  Platform* platform_;
  std::map<std::tuple<Ceiling, DType, std::size_t>, Measured> measured_;
};

const char* name_of(Ceiling ceiling);

/// The library's problem for a case.
tessera::GemmDesc gemm_desc(const Problem& problem);
tessera::StencilDesc stencil_desc(const Problem& problem);
/// A plan, by what executes it: C = op(A) op(B), out = S(in), or steps of a system.
struct Prepared {
  Execute execute;
  std::uint64_t workspace_bytes;       ///< that the plan takes beside its operands
  std::string algorithm, description;  ///< what the plan says of itself
};
Prepared prepare(const tessera::Context& context, const Problem& problem, const tessera::PlanOptions& options);

}  // namespace tessera::perf
