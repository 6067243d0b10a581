// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "host_ceilings.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::perf {

namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(kVectorBytes), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::type;

#if defined(__x86_64__)
#if defined(__AVX512F__)
#define TESSERA_PERF_REGISTER "v"
#else
#define TESSERA_PERF_REGISTER "x"
#endif
#else
#define TESSERA_PERF_REGISTER "w"
#endif

// More chains than latency x width of any processor of today, fewer than registers.
constexpr int kChains = 12;

template <class T>
[[gnu::noinline]] T fma_chains(std::int64_t rounds, T scale, T shift) {
  const Vector<T> f = scale - Vector<T>{}, a = shift - Vector<T>{};
  // Variables, not an array, which g++ would keep in memory.
  Vector<T> c0 = f, c1 = f + 1, c2 = f + 2, c3 = f + 3, c4 = f + 4, c5 = f + 5;
  Vector<T> c6 = f + 6, c7 = f + 7, c8 = f + 8, c9 = f + 9, c10 = f + 10, c11 = f + 11;
  for (std::int64_t round = 0; round < rounds; ++round) {
    c0 = c0 * f + a, c1 = c1 * f + a, c2 = c2 * f + a, c3 = c3 * f + a, c4 = c4 * f + a, c5 = c5 * f + a;
    c6 = c6 * f + a, c7 = c7 * f + a, c8 = c8 * f + a, c9 = c9 * f + a, c10 = c10 * f + a, c11 = c11 * f + a;
    // Every round happens, in registers: the compiler may not close the recurrences in another way.
    asm volatile(""
                 : "+" TESSERA_PERF_REGISTER(c0), "+" TESSERA_PERF_REGISTER(c3), "+" TESSERA_PERF_REGISTER(c6),
                   "+" TESSERA_PERF_REGISTER(c9));
  }
  const Vector<T> sum = ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7)) + ((c8 + c9) + (c10 + c11));
  T total = 0;
  for (std::size_t i = 0; i < kVectorBytes / sizeof(T); ++i) total += sum[i];
  return total;
}

#if defined(__AVX512F__)
/// AVX512-BF16's dot products, for processors that have them: two multiply-adds a lane. They take longer than FMAs, so
/// that there are more chains.
constexpr int kDotChains = 24;
void dot_chains(std::int64_t rounds) {
  const Vector<float> f{};
  Vector<float> c[kDotChains / 6][6] = {};
  for (std::int64_t round = 0; round < rounds; ++round)
#pragma GCC unroll 4
    for (auto& [c0, c1, c2, c3, c4, c5] : c)
      asm volatile(
          "vdpbf16ps %6, %6, %0\n\tvdpbf16ps %6, %6, %1\n\tvdpbf16ps %6, %6, %2\n\t"
          "vdpbf16ps %6, %6, %3\n\tvdpbf16ps %6, %6, %4\n\tvdpbf16ps %6, %6, %5"
          : "+v"(c0), "+v"(c1), "+v"(c2), "+v"(c3), "+v"(c4), "+v"(c5)
          : "v"(f));
}
#endif

/// Of run(rounds), whose rounds have so many operations. Each thread's median of its own repeats: who shares its core
/// with others now and then does not hold up the rest.
template <class Run>
double rate_of(int threads, double operations, Run&& run) {
  constexpr std::int64_t rounds = 200000;
  double total = 0.0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
  {
    std::array<double, 9> rates{};
    for (double& rate : rates) {
      const double begin = steady_seconds();
      run(rounds);
      rate = operations * double(rounds) / (steady_seconds() - begin);
    }
    std::nth_element(rates.begin(), rates.begin() + rates.size() / 2, rates.end());
    total += rates[rates.size() / 2];
  }
  return total;
}

template <class T>
double fma_rate_as(int threads) {
  volatile T scale = T(0.999), shift = T(0.001);
  return rate_of(threads, 2.0 * kChains * double(kVectorBytes / sizeof(T)), [&](std::int64_t rounds) {
    volatile T keep = fma_chains<T>(rounds, scale, shift);
    (void)keep;
  });
}

constexpr std::int64_t kPage = 4096;
using Word = Vector<float>;

#if defined(__x86_64__)
inline void store_non_temporal(Word* out, Word value) {
#if defined(__AVX512F__)
  asm volatile("vmovntps %1, %0" : "=m"(*out) : "v"(value));
#elif defined(__AVX__)
  asm volatile("vmovntps %1, %0" : "=m"(*out) : "x"(value));
#else
  asm volatile("movntps %1, %0" : "=m"(*out) : "x"(value));
#endif
}
#else
inline void store_non_temporal(Word* out, Word value) { *out = value; }
#endif

void copy_page(const Word* __restrict in, Word* __restrict out) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kPage / sizeof(Word); ++i) out[i] = in[i];
}
void copy_page_non_temporal(const Word* __restrict in, Word* __restrict out) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kPage / sizeof(Word); ++i) store_non_temporal(out + i, in[i]);
}
/// Eight places at a time: one alone does not keep enough reads under way.
void read_pages(const Word* first, const Word* second) {
  constexpr std::size_t part = kPage / sizeof(Word) / 4;
  Word sum[8]{};
  for (std::size_t i = 0; i < part; ++i)
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
      sum[j] += first[j * part + i];
      sum[4 + j] += second[j * part + i];
    }
  Word total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  asm volatile("" : : TESSERA_PERF_REGISTER(total));
}
void write_page(Word* out, float value) {
  const Word word = value - Word{};
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kPage / sizeof(Word); ++i) store_non_temporal(out + i, word);
}

}  // namespace

bool has_dot_products() {
#if defined(__AVX512F__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

double dot_rate(int threads) {
#if defined(__AVX512F__)
  return rate_of(threads, 4.0 * kDotChains * double(kVectorBytes / sizeof(float)), dot_chains);
#else
  return 0.0 * threads;
#endif
}

double fma_rate(DType dtype, int threads) {
  return with_types<WideTypes>(dtype, [threads]<class T>(std::type_identity<T>) { return fma_rate_as<T>(threads); });
}

void memory_pass(Ceiling ceiling, void* in, void* out, std::size_t half, int threads) {
  const std::int64_t pages = std::int64_t(half) / kPage;
  char* const source = static_cast<char*>(in);
  char* const target = static_cast<char*>(out);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t page = 0; page < pages; ++page) {
    Word* const from = reinterpret_cast<Word*>(source + page * kPage);
    Word* const to = reinterpret_cast<Word*>(target + page * kPage);
    switch (ceiling) {
      case Ceiling::copy:
        copy_page(from, to);
        break;
      case Ceiling::copy_streaming:
        copy_page_non_temporal(from, to);
        break;
      case Ceiling::read:
        read_pages(from, to);
        break;
      default:
        write_page(from, 0.5f);
        write_page(to, 0.25f);
        break;
    }
  }
}

}  // namespace tessera::perf
