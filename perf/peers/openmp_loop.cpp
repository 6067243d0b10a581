// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The stencil loop that a user would write: taps known at compile time, OpenMP over the rows, the compiler's vectors.
/// No blocking, no non-temporal stores.

#include "beyond.hpp"
#include "host_peers.hpp"
#include "taps.hpp"

#include <cstdlib>
#include <cstring>

namespace tessera::perf {

namespace {

struct Domain {
  std::int64_t nz, ny, nx;
  Boundary boundary;
};

/// One row between the columns whose taps all stay inside. The rows that taps read are resolved before.
template <class T, Pattern kPattern, int kRank, int kRadius>
void row(const T* const* __restrict rows, T* __restrict out, std::int64_t begin, std::int64_t end) {
  static constexpr auto taps = constant_taps<kPattern, kRank, kRadius>();
  const T* in[taps.size()];
#pragma GCC unroll 64
  for (std::size_t t = 0; t < taps.size(); ++t) in[t] = rows[t] + taps[t].x;
#pragma omp simd
  for (std::int64_t x = begin; x < end; ++x) {
    T sum = 0;
#pragma GCC unroll 64
    for (std::size_t t = 0; t < taps.size(); ++t) sum += T(taps[t].coefficient) * in[t][x];
    out[x] = sum;
  }
}

template <class T, Pattern kPattern, int kRank, int kRadius>
void sweep_row(const T* in, T* out, const Domain& d, std::int64_t z, std::int64_t y, std::int64_t begin,
               std::int64_t end) {
  static constexpr auto taps = constant_taps<kPattern, kRank, kRadius>();
  constexpr std::int64_t r = kRadius;
  const bool inside = (kRank < 3 || (z >= r && z < d.nz - r)) && (kRank < 2 || (y >= r && y < d.ny - r));
  const T* const own = in + (z * d.ny + y) * d.nx;
  T* const target = out + (z * d.ny + y) * d.nx;
  if (!inside && d.boundary == Boundary::fixed) {
    std::memcpy(target + begin, own + begin, std::size_t(end - begin) * sizeof(T));
    return;
  }
  const T* rows[taps.size()];
  for (std::size_t t = 0; t < taps.size(); ++t) {
    const std::int64_t tz = inside ? z + taps[t].z : test::source_of(d.boundary, z + taps[t].z, d.nz);
    const std::int64_t ty = inside ? y + taps[t].y : test::source_of(d.boundary, y + taps[t].y, d.ny);
    rows[t] = in + (tz * d.ny + ty) * d.nx;
  }
  const std::int64_t first = std::min(std::max(begin, r), end), last = std::max(std::min(end, d.nx - r), first);
  const auto edge = [&](std::int64_t x) {
    T sum = 0;
    for (std::size_t t = 0; t < taps.size(); ++t)
      sum += T(taps[t].coefficient) * rows[t][test::source_of(d.boundary, x + taps[t].x, d.nx)];
    target[x] = d.boundary == Boundary::fixed ? own[x] : sum;
  };
  for (std::int64_t x = begin; x < first; ++x) edge(x);
  row<T, kPattern, kRank, kRadius>(rows, target, first, last);
  for (std::int64_t x = last; x < end; ++x) edge(x);
}

template <class T, Pattern kPattern, int kRank, int kRadius>
void sweep(const T* in, T* out, const Domain& d) {
  const std::int64_t rows = d.nz * d.ny;
  const std::int64_t chunk = kRank == 1 ? 16384 : d.nx;  // one row alone is cut for the threads
  const std::int64_t chunks = (d.nx + chunk - 1) / chunk;
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < rows * chunks; ++i) {
    const std::int64_t begin = i % chunks * chunk;
    sweep_row<T, kPattern, kRank, kRadius>(in, out, d, i / chunks / d.ny, i / chunks % d.ny, begin,
                                           std::min(begin + chunk, d.nx));
  }
}

template <class T, Pattern kPattern, int kRank, int kRadius>
void run(const T* in, T* out, T* scratch, const Domain& d, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) {
    T* const target = (steps - step) % 2 == 1 ? out : scratch;
    sweep<T, kPattern, kRank, kRadius>(in, target, d);
    in = target;
  }
}

class OpenMPLoop : public Competitor {
 public:
  explicit OpenMPLoop(int threads) : threads_(threads) {}
  std::string name() const override { return "peer:openmp_loop"; }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::stencil) return "it is a stencil";
    if (!p.is_plain()) return "it has no types of 16 bits";
    if (p.stencil.boundary == Boundary::constant) return "it reads elements alone";
    return is_compiled(p.stencil) ? "" : "it has no such taps compiled in";
  }
  Execute prepare(const Problem& p) override {
    return with_types<WideTypes>(p.kind.dtype, [&]<class T>(std::type_identity<T>) { return prepare_as<T>(p); });
  }

 private:
  template <class T>
  Execute prepare_as(const Problem& p) {
    const StencilShape& s = p.stencil;
    std::shared_ptr<T> scratch;
    if (s.steps > 1) scratch.reset(static_cast<T*>(std::malloc(std::size_t(s.points()) * sizeof(T))), std::free);
    using Run = void (*)(const T*, T*, T*, const Domain&, std::int64_t);
    Run function = nullptr;
    with_shape(s, [&]<Pattern kPattern, int kRank, int kRadius>() { function = run<T, kPattern, kRank, kRadius>; });
    const Domain d{s.extents[0], s.extents[1], s.extents[2], s.boundary};
    return [=, steps = s.steps, threads = threads_](const void* const* in, void* out) {
      use_threads(threads);
      function(static_cast<const T*>(in[0]), static_cast<T*>(out), scratch.get(), d, steps);
    };
  }
  int threads_;
};

}  // namespace

std::unique_ptr<Competitor> make_openmp_loop(int threads) { return std::make_unique<OpenMPLoop>(threads); }

}  // namespace tessera::perf
