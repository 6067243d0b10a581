// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A backend, where its operands live, and everything that competes there.
#pragma once

#include "device.hpp"

#include <tessera/tessera.hpp>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::perf {

using Facts = std::vector<std::pair<std::string, std::string>>;

struct Place {
  explicit Place(tessera::Context c) : context(std::move(c)) {}
  std::string backend;  ///< as in TESSERA_BACKEND
  bool device = false;  ///< operands live in memory of its own
  tessera::Context context;
  std::unique_ptr<Device> clock;  ///< the device as the suite sees it
  Subjects tessera, peers;
  int threads = 0;
};

/// What could not be had, and why.
using LeftOut = std::vector<std::pair<std::string, std::string>>;

/// Opens a backend ("cpu", "cpu-v3", "cuda:1") at the end of the list, whose elements must not move afterwards. Throws
/// where it, or the suite's part for its device, is not available.
void open_place(std::vector<Place>& places, const std::string& backend, int threads, Facts& facts, LeftOut& left_out);

/// Seconds-to-rates: the ceilings of a place, measured when first asked for and, where the machine's memory rates
/// swing, again beside every row.
class Ceilings {
 public:
  explicit Ceilings(Place& place) : place_(&place) {}
  double rate(Ceiling ceiling, bool f64, std::size_t footprint);

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
  std::map<std::tuple<Ceiling, bool, std::size_t>, Measured> measured_;
};

const char* name_of(Ceiling ceiling);

/// The library's problem for a case.
tessera::GemmDesc gemm_desc(const Problem& problem);
tessera::StencilDesc stencil_desc(const Problem& problem);

}  // namespace tessera::perf
