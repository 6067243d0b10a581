// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A backend whose device is an emulation: its pointers cannot be dereferenced by the host, work is queued until
/// somebody waits, and every access is checked against the live allocations. It is slow, and as strict as a device.
/// In "fatal", compiled with TESSERA_FAKE_FATAL, the first execution kills the context, and the table has wait_for.
/// "fakestatic" costs nothing to reach. The environment's TESSERA_FAKE_DAMAGE says what
/// memory a product writes that is none of its own: "beside" the result, or "nowhere" that can be written.

#include "fake_context.hpp"
#include "fake_system.hpp"
#include "plugin_name.h"

#include <tessera/plugin/epilogue.hpp>
#include <tessera/plugin/plugin.hpp>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

namespace {

using namespace tessera::plugin;
using namespace tessera::test;

constexpr std::int64_t kCoveted = 7777;

/// Operands cost nothing to bring there, and it is quick for one row less than kCoveted.
const bool kNear = std::string_view("fakestatic") == tessera_test_plugin_name;
/// Of the time of `plain`, what `tuned` says it takes.
const double kTunedShare = kNear ? 1.0 : 0.5;

/// A plan whose work runs when the context is waited for.
class QueuedPlan : public Plan {
 public:
  explicit QueuedPlan(FakeContext& context) : context_(context) {
    may_fail("plan_create");
    context_.plans_.insert(this);
    ++context_.stats_.live_plans, ++alive.plans;
  }
  ~QueuedPlan() override {
    context_.plans_.erase(this);
    --context_.stats_.live_plans, --alive.plans;
  }

 protected:
  void queue(std::function<void()> work) {
    may_fail("plan_execute");
    ++context_.stats_.executions;
    context_.stats_.executed_by = std::this_thread::get_id();
#if defined(TESSERA_FAKE_FATAL)
    context_.queue_.push_back(
        [] { throw Error(TESSERA_DEVICE_ERROR, "the device fell off the bus", TESSERA_ERROR_CONTEXT_DEAD); });
#endif
    context_.queue_.push_back([this, &context = context_, work = std::move(work)] {
      if (context.plans_.count(this) == 0)
        ++context.stats_.executions_of_dead_plans;
      else
        work();
    });
  }
  template <class T>
  T* device(const void* pointer, std::int64_t elements) const {
    return reinterpret_cast<T*>(context_.resolve(pointer, 0, elements * std::int64_t(sizeof(T))));
  }
  FakeContext& context_;
};

/// What TESSERA_FAKE_DAMAGE says; `behind` is the end of the result.
void may_damage(char* behind) {
  const char* const variable = std::getenv("TESSERA_FAKE_DAMAGE");
  const std::string_view where = variable == nullptr ? "" : variable;
  if (where == "beside") ++*behind;
  if (where == "nowhere") ++*reinterpret_cast<char*>(kDeviceBit);
}

/// Whether a variable says so. TESSERA_FAKE_PLAIN = slow: products without a workspace take 2 ms longer.
/// TESSERA_FAKE_TUNED = wrong: one element is, of those with a workspace.
bool is_told(const char* variable, std::string_view what) {
  const char* const value = std::getenv(variable);
  return value != nullptr && what == value;
}

/// A and B of type T, C and D of type To.
template <class T, class To>
class FakeGemm : public QueuedPlan {
  using S = tessera::Scalar<To>;

 public:
  FakeGemm(FakeContext& context, const GemmProblem& problem, std::uint64_t workspace)
      : QueuedPlan(context), p_(problem), workspace_(workspace) {
    context_.stats_.multiprocessors = problem.multiprocessors;
  }
  std::uint64_t workspace_bytes() const override { return workspace_; }
  void execute(const Execution& e) override {
    if (workspace_ > 0) device<char>(e.workspace<char>(), std::int64_t(workspace_));
    const void* const bias = p_.bias == TESSERA_BIAS_NONE ? nullptr : e.operand<const void>(4);
    void* const aux = p_.aux == TESSERA_AUX_NONE ? nullptr : e.operand<void>(p_.aux_operand());
    queue([this, alpha = e.scalar<S>(0), beta = e.scalar<S>(1), a = e.operand<T>(0), b = e.operand<T>(1),
           c = e.operand<const To>(2), d = e.operand<To>(3), bias,
           aux] { multiply(alpha, a, b, beta, c, d, bias, aux); });
  }

 private:
  /// In slices, whose length of ordered sums follows from what it may.
  S sum_of(const T* a, const T* b, std::int64_t i, std::int64_t j) const {
    const std::int64_t length = p_.ordered ? 3 + p_.fixed_extent() % 7 : p_.k;
    const std::int64_t a_row = p_.trans_a ? 1 : p_.lda, a_k = p_.trans_a ? p_.lda : 1;
    const std::int64_t b_k = p_.trans_b ? 1 : p_.ldb, b_column = p_.trans_b ? p_.ldb : 1;
    S sum = 0;
    for (std::int64_t first = 0; first < p_.k; first += length) {
      S slice = 0;
      for (std::int64_t q = first, end = std::min(first + length, p_.k); q < end; ++q)
        slice += S(a[i * a_row + q * a_k]) * S(b[q * b_k + j * b_column]);
      sum += slice;
    }
    return sum;
  }
  void multiply(S alpha, const T* a, const T* b, S beta, const To* c, To* d, const void* bias, void* aux) const {
    if (workspace_ > 0 && is_told("TESSERA_FAKE_TUNED", "idle")) return;
    const std::int64_t elements = (p_.batch - 1) * p_.stride_d + (p_.m - 1) * p_.ldd + p_.n;
    d = device<To>(d, elements);
    may_damage(reinterpret_cast<char*>(d + elements));
    if (beta != S(0)) c = device<const To>(c, (p_.batch - 1) * p_.stride_c + (p_.m - 1) * p_.ldc + p_.n);
    if (bias != nullptr) bias = device<char>(bias, 1);
    if (aux != nullptr)
      aux = device<To>(static_cast<To*>(aux), (p_.batch - 1) * p_.stride_aux + (p_.m - 1) * p_.ldaux + p_.n);
    const Epilogue<S> epilogue(p_, bias, aux);
    const bool product = alpha != S(0) && p_.k > 0;
    if (product) {
      a = device<T>(a, (p_.batch - 1) * p_.stride_a + (p_.trans_a ? p_.k - 1 : p_.m - 1) * p_.lda + 1);
      b = device<T>(b, (p_.batch - 1) * p_.stride_b + (p_.trans_b ? p_.n - 1 : p_.k - 1) * p_.ldb + 1);
    }
    for (std::int64_t l = 0; l < p_.batch; ++l)
      for (std::int64_t i = 0; i < p_.m; ++i)
        for (std::int64_t j = 0; j < p_.n; ++j) {
          const bool mirrored = p_.triangle == TESSERA_TRIANGLE_MIRRORED;
          if (!p_.writes(i, j) || (mirrored && j > i)) continue;
          const S sum = product ? sum_of(a + l * p_.stride_a, b + l * p_.stride_b, i, j) : S(0);
          const S kept = beta == S(0) ? S(0) : beta * S(c[l * p_.stride_c + i * p_.ldc + j]);
          const To value = To(epilogue(l, i, j, (product ? alpha * sum : S(0)) + kept));
          d[l * p_.stride_d + i * p_.ldd + j] = value;
          if (mirrored) d[l * p_.stride_d + j * p_.ldd + i] = value;
        }
    if ((workspace_ == 0 && is_told("TESSERA_FAKE_PLAIN", "slow")) ||
        is_told("TESSERA_FAKE_SLOW", tessera_test_plugin_name))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (workspace_ > 0 && is_told("TESSERA_FAKE_TUNED", "wrong")) d[elements - 1] = To(S(d[elements - 1]) + S(1));
  }
  GemmProblem p_;
  std::uint64_t workspace_;
};

template <class T>
class FakeStencil : public QueuedPlan {
 public:
  FakeStencil(FakeContext& context, const StencilProblem& problem) : QueuedPlan(context), p_(problem) {}
  std::uint64_t workspace_bytes() const override { return p_.sweep_workspace(); }
  void execute(const Execution& e) override {
    queue([this, in = e.operand<T>(0), out = e.operand<T>(1), workspace = e.workspace<T>()] {
      for_each_sweep<T>(p_, in, out, workspace, [this](const T* x, const Index3& xs, T* y, const Index3& ys) {
        sweep(device<T>(x, 1), xs, device<T>(y, 1), ys);
      });
    });
  }

 private:
  void sweep(const T* x, const Index3& xs, T* y, const Index3& ys) const {
    const Domain& d = p_.domain;
    for (std::int64_t i = 0; i < d.extents[0]; ++i)
      for (std::int64_t j = 0; j < d.extents[1]; ++j)
        for (std::int64_t l = 0; l < d.extents[2]; ++l) {
          T sum = d.frozen(i, j, l) ? x[i * xs[0] + j * xs[1] + l * xs[2]] : T(0);
          for (const Tap& tap : p_.taps) {
            if (d.frozen(i, j, l)) break;
            const Sample s = d.sample(i + tap.offset[0], j + tap.offset[1], l + tap.offset[2]);
            const T value = s.constant ? T(s.value) : x[s.index[0] * xs[0] + s.index[1] * xs[1] + s.index[2] * xs[2]];
            sum += T(tap.coefficient) * value;
          }
          y[i * ys[0] + j * ys[1] + l * ys[2]] = sum;
        }
  }
  StencilProblem p_;
};

template <class T>
class FakeSystem : public QueuedPlan {
 public:
  FakeSystem(FakeContext& context, const SystemProblem& problem)
      : QueuedPlan(context), steps_(problem), problem_(problem) {}
  std::uint64_t workspace_bytes() const override { return steps_.workspace_bytes(); }
  void execute(const Execution& e) override {
    std::vector<tessera_operand> operands;
    for (const SystemProblem::Field& f : problem_.fields)
      for (int level = 0; level < f.levels; ++level)
        operands.push_back(given<T>(e, f.first_operand + level, f.span(problem_.extents)));
    for (const auto* list : {&problem_.injections, &problem_.recordings})
      for (const SystemProblem::Points& points : *list)
        operands.push_back(given<T>(e, points.operand, problem_.steps * points.series_count));
    queue([this, operands, workspace = e.workspace<char>()]() mutable {
      for (tessera_operand& o : operands)
        if (o.data != nullptr) o.data = device<char>(o.data, 0);  // series of nothing may be null
      const std::uint64_t bytes = steps_.workspace_bytes();
      steps_.run(operands, bytes == 0 ? nullptr : device<char>(workspace, std::int64_t(bytes)));
    });
  }

 private:
  /// An operand whose elements are those of one allocation.
  template <class E>
  tessera_operand given(const Execution& e, int place, std::int64_t elements) const {
    E* const data = e.operand<E>(place);
    if (elements > 0) device<E>(data, elements);
    return {data, 0, 0};
  }
  FakeSteps<T> steps_;
  SystemProblem problem_;
};

std::unique_ptr<Plan> make_gemm(FakeContext& context, const GemmProblem& p, std::uint64_t workspace) {
  const auto plan = [&]<class T, class To>(std::type_identity<T>, std::type_identity<To>) -> std::unique_ptr<Plan> {
    return std::make_unique<FakeGemm<T, To>>(context, p, workspace);
  };
  return with_gemm_types(p, plan);
}

std::unique_ptr<Plan> make_stencil(FakeContext& context, const StencilProblem& p, const Parameters&) {
  return with_types<tessera::WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<FakeStencil<T>>(context, p);
  });
}

std::unique_ptr<Plan> make_system(FakeContext& context, const SystemProblem& p, const Parameters&) {
  return with_types<tessera::WideTypes>(p.dtype, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Plan> {
    return std::make_unique<FakeSystem<T>>(context, p);
  });
}

using Gemm = Register<FakeContext, GemmProblem>;
using Stencil = Register<FakeContext, StencilProblem>;

/// Slow enough never to be anybody's automatic choice beside a real backend, but for products of so many rows.
double seconds(const GemmProblem& p) {
  if (kNear && p.m == kCoveted - 1) return 1e-6;
  return p.m == kCoveted ? 1e-12 : 1e3;
}
/// `spy` is good for one row less, where its context has three threads.
double spy_seconds(const GemmProblem& p, const FakeMachine& machine) {
  return p.m == kCoveted - 1 && machine.threads == 3 && !kNear ? 1e-12 : 1e3;
}

std::unique_ptr<Plan> make_plain(FakeContext& context, const GemmProblem& p, const Parameters&) {
  return make_gemm(context, p, 0);
}

const Gemm kPlain{
    {"plain",
     supports_all<GemmProblem, FakeMachine>,
     [](const GemmProblem& p, const FakeMachine&, const GivenParameters&, std::uint64_t, OfferList& offers) {
       offers.add({{}, seconds(p)});
     },
     make_plain,
     {.narrow = true, .epilogue = true, .aux = true, .ordered = true, .triangle = true}},
    0};

std::uint64_t bytes_of_a_split(const GemmProblem& p) { return p.compute == TESSERA_COMPUTE_STRICT ? 4096 : 32 << 20; }
/// Parameters of both kinds, and a workspace, larger where other arithmetic than strict is permitted.
const Gemm kTuned{{"tuned",
                   supports_all<GemmProblem, FakeMachine>,
                   [](const GemmProblem& p, const FakeMachine&, const GivenParameters& given, std::uint64_t limit,
                      OfferList& offers) {
                     static constexpr std::int64_t tiles[] = {8, 16, 32};
                     const std::int64_t tile = given.one_of("tile", std::span(tiles + 1, 1), tiles).front();
                     const std::int64_t split = given.in_range("split", 1, 1, 4);
                     const std::uint64_t wanted = std::uint64_t(split) * bytes_of_a_split(p);
                     if (wanted > limit && given.has("split"))
                       throw Error(TESSERA_UNSUPPORTED, "needs a workspace of " + std::to_string(wanted) + " bytes");
                     if (wanted > limit) return;
                     offers.add({{{"tile", tile}, {"split", split}}, seconds(p) / kTunedShare, wanted});
                   },
                   [](FakeContext& context, const GemmProblem& p, const Parameters& parameters) {
                     return make_gemm(context, p, std::uint64_t(parameters.at("split")) * bytes_of_a_split(p));
                   },
                   {.narrow = true, .epilogue = true, .aux = true, .limited = true}},
                  1};

/// Takes none of the newer vocabulary.
const Gemm kPicky{
    {"picky",
     [](const GemmProblem& p, const FakeMachine&) { return std::string(p.m % 2 == 0 ? "" : "m must be even"); },
     [](const GemmProblem& p, const FakeMachine&, const GivenParameters&, std::uint64_t, OfferList& offers) {
       offers.add({{}, seconds(p)});
     },
     make_plain},
    2};

/// Its parameter tells the number of threads that the context was given.
const Gemm kSpy{
    {"spy", supports_all<GemmProblem, FakeMachine>,
     [](const GemmProblem& p, const FakeMachine& machine, const GivenParameters& given, std::uint64_t,
        OfferList& offers) {
       offers.add({{{"threads", given.in_range("threads", machine.threads, 0, 1024)}}, spy_seconds(p, machine)});
     },
     make_plain},
    3};

/// Says that it is the fastest by far.
const Gemm kDraft{
    {"draft",
     supports_all<GemmProblem, FakeMachine>,
     [](const GemmProblem&, const FakeMachine&, const GivenParameters&, std::uint64_t, OfferList& offers) {
       offers.add({{}, 1e-15});
     },
     make_plain,
     {.narrow = true, .epilogue = true, .forced_only = true}},
    4};

const Stencil kSweep{
    {"sweep",
     supports_all<StencilProblem, FakeMachine>,
     [](const StencilProblem& p, const FakeMachine&, const GivenParameters&, std::uint64_t, OfferList& offers) {
       offers.add({{}, 1e3, p.sweep_workspace()});
     },
     make_stencil,
     {.ordered = true}},
    0};

const Register<FakeContext, SystemProblem> kPoints{
    {"points",
     [](const SystemProblem& p, const FakeMachine&) {
       for (const SystemProblem::Field& f : p.fields)
         if (f.dtype != p.dtype) return std::string("fields have the type of the system");
       return std::string();
     },
     [](const SystemProblem& p, const FakeMachine&, const GivenParameters&, std::uint64_t, OfferList& offers) {
       offers.add({{}, 1e3, p.workspace_offsets().back()});
     },
     make_system},
    0};

struct Fake {
  static constexpr const char* kName = tessera_test_plugin_name;
  static constexpr std::uint32_t kFlags = 0;
  static const char* build_info() { return "an emulated device"; }
  static void require_available() {}
  static std::vector<Device> devices() { return {{"fake device 0", 1u << 30}, {"fake device 1", 1u << 30}}; }
  using Context = FakeContext;
  static FakeMachine machine(int, int threads) { return {threads}; }
  static double transfer_seconds(const FakeMachine&, const GemmProblem& p) { return p.n == 3 && !kNear ? 0.25 : 0.0; }
};

}  // namespace

TESSERA_DEFINE_BACKEND(Fake)
