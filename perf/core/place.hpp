// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A place to measure on: where operands live, and everything that competes there.
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
  Subjects algorithms;
};

/// Backends that compute in the same place compete there with each other, and with one set of peers.
struct Place {
  std::string name;     ///< "host" or "cuda": the suite's part that measures there
  bool device = false;  ///< operands live in memory of its own
  int index = 0;        ///< of the device
  int threads = 0;
  std::unique_ptr<Device> clock;  ///< the device as the suite sees it, with the stream that all work goes to
  std::vector<std::unique_ptr<Backend>> backends;
  Subjects peers;
};
using Places = std::vector<std::unique_ptr<Place>>;

/// The algorithms of all backends of a place, then the peers, each of which is there once.
std::vector<const Subjects*> competitors(const Place& place);

/// What could not be had, and why.
using LeftOut = std::vector<std::pair<std::string, std::string>>;

/// Opens a backend ("cpu", "cpu-v3", "cuda:1") in its place, which is opened for the first backend there. Throws where
/// the backend, or the suite's part for its device, is not available.
void open_backend(Places& places, const std::string& backend, int threads, Facts& facts, LeftOut& left_out);

/// Seconds-to-rates: the ceilings of a place, measured when first asked for and, where the machine's memory rates
/// swing, again beside every row.
class Ceilings {
 public:
  explicit Ceilings(Place& place) : place_(&place) {}
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
  Place* place_;
  std::map<std::tuple<Ceiling, DType, std::size_t>, Measured> measured_;
};

const char* name_of(Ceiling ceiling);

/// The library's problem for a case.
tessera::GemmDesc gemm_desc(const Problem& problem);
tessera::StencilDesc stencil_desc(const Problem& problem);

}  // namespace tessera::perf
