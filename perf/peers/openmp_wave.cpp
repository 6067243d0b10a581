// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The wave that a user would write: the laplacian known at compile time, in place of the level before, OpenMP over
/// the rows, the compiler's vectors. No blocking, no non-temporal stores.

#include "host_peers.hpp"
#include "wave.hpp"

#include <cstring>

namespace tessera::perf {

namespace {

/// One row between the columns whose neighbours all stay inside. `scale`: the profiles of the row.
template <class T, int kOrder, bool kVarying, bool kSponge>
void row(const T* from, T* to, const Medium<T>& m, const SystemShape& s, std::int64_t own, T scale) {
  constexpr int r = kOrder / 2;
  const std::int64_t line = s.extents[2], plane = s.extents[1] * line;
  const T* __restrict const now = from + own;
  const T* __restrict const speed2 = kVarying ? m.speed2 + own : nullptr;
  const T* __restrict const sx = m.sx;
  T* __restrict const next = to + own;
#pragma omp simd
  for (std::int64_t x = r; x < line - r; ++x) {
    T sum = T(3 * second_derivative(0, r)) * now[x];
#pragma GCC unroll 8
    for (int k = 1; k <= r; ++k)
      sum += T(second_derivative(k, r)) * (now[x - k] + now[x + k] + now[x - k * line] + now[x + k * line] +
                                           now[x - k * plane] + now[x + k * plane]);
    T value = 2 * now[x] - next[x];
    if constexpr (kVarying)
      value += speed2[x] * sum;
    else
      value += T(kSpeed2) * sum;
    if constexpr (kSponge) value *= scale * sx[x];
    next[x] = value;
  }
}

template <class T, int kOrder, bool kVarying, bool kSponge>
void step(const T* now, T* next, const Medium<T>& m, const SystemShape& s) {
  constexpr std::int64_t r = kOrder / 2;
  const auto [nz, ny, nx] = s.extents;
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y) {
      const std::int64_t own = (z * ny + y) * nx;
      const auto keep = [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(next + own + begin, now + own + begin, std::size_t(end - begin) * sizeof(T));
      };
      if (z < r || z >= nz - r || y < r || y >= ny - r || nx < 2 * r) {
        keep(0, nx);
        continue;
      }
      keep(0, r);
      row<T, kOrder, kVarying, kSponge>(now, next, m, s, own, kSponge ? m.sz[z] * m.sy[y] : T(1));
      keep(nx - r, nx);
    }
}

class OpenMPWave : public Competitor {
 public:
  explicit OpenMPWave(int threads) : threads_(threads) {}
  std::string name() const override { return "peer:openmp_loop"; }
  std::string unsupported(const Problem& p) const override {
    if (p.op != Op::system) return "it is a system";
    return is_compiled(p.system) ? "" : "it has no such system compiled in";
  }
  Execute prepare(const Problem& p) override {
    return with_types<WideTypes>(p.kind.dtype, [&]<class T>(std::type_identity<T>) { return prepare_as<T>(p.system); });
  }

 private:
  template <class T>
  Execute prepare_as(const SystemShape& s) {
    void (*function)(const T*, T*, const Medium<T>&, const SystemShape&) = nullptr;
    with_wave(s, [&]<int kOrder, bool kVarying, bool kSponge>() { function = step<T, kOrder, kVarying, kSponge>; });
    return [=, source = index_of(s, source_place(s)), receivers = receivers_of(s), threads = threads_](
               const void* const*, void* list) {
      use_threads(threads);
      void** const arrays = static_cast<void**>(list);
      const WaveArrays<T> w(s, arrays);
      for (std::int64_t i = 0; i < s.steps; ++i) {
        function(static_cast<T*>(arrays[0]), static_cast<T*>(arrays[1]), w.medium, s);
        std::swap(arrays[0], arrays[1]);
        if (!s.sponge) continue;
        T* const now = static_cast<T*>(arrays[0]);
        now[source] += w.injected[i];
        for (std::size_t j = 0; j < receivers.size(); ++j)
          w.recorded[i * kReceivers + std::int64_t(j)] = now[receivers[j]];
      }
    };
  }
  int threads_;
};

}  // namespace

std::unique_ptr<Competitor> make_openmp_wave(int threads) { return std::make_unique<OpenMPWave>(threads); }

}  // namespace tessera::perf
