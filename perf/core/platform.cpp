// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "platform.hpp"

#include "module.hpp"
#include "systems.hpp"
#include "taps.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

namespace tessera::perf {

tessera::GemmDesc gemm_desc(const Problem& problem) {
  const GemmShape& g = problem.gemm;
  tessera::GemmDesc desc{.m = g.m, .n = g.n, .k = g.k, .dtype = problem.kind.element()};
  desc.trans_a = g.trans_a ? Transpose::yes : Transpose::no;
  desc.trans_b = g.trans_b ? Transpose::yes : Transpose::no;
  desc.lda = g.lda, desc.ldb = g.ldb, desc.ldc = g.ldc;
  desc.batch = g.batch;
  desc.stride_a = g.stride_a, desc.stride_b = g.stride_b, desc.stride_c = g.stride_c;
  if (!problem.kind.is_complex) desc.dtype_b = problem.kind.dtype_b, desc.dtype_d = problem.kind.dtype_out;
  desc.compute = Compute(problem.kind.compute);
  desc.bias = Bias(g.bias), desc.activation = Activation(g.activation);
  desc.sums = g.ordered ? Sums::ordered : Sums::any;
  desc.triangle = Triangle(g.triangle);
  return desc;
}

tessera::StencilDesc stencil_desc(const Problem& problem) {
  const StencilShape& s = problem.stencil;
  Taps taps(s.rank);
  for (const ConstantTap& tap : taps_of(s)) {
    const std::array<std::int64_t, 3> offset{tap.z, tap.y, tap.x};
    std::array<std::int64_t, 3> own{};
    std::copy(offset.begin() + (3 - s.rank), offset.end(), own.begin());
    taps.add(own, tap.coefficient);
  }
  return {
      .extents = extents_of(s), .taps = taps, .boundary = s.boundary, .steps = s.steps, .dtype = problem.kind.dtype};
}

namespace {

/// A of type T, B of type U, D and the bias of type D.
template <class T, class U, class D>
Prepared prepare_gemm(const tessera::Context& context, const Problem& problem, const PlanOptions& options) {
  using S = Scalar<D>;
  const auto plan = std::make_shared<GemmPlan>(context, gemm_desc(problem), options);
  const GemmShape& g = problem.gemm;
  const Execute execute = [plan, alpha = S(g.alpha), beta = S(g.beta), has_bias = g.bias != TESSERA_BIAS_NONE,
                           of_b = g.is_triangle() ? 0 : 1](const void* const* in, void* out) {
    const T* const a = static_cast<const T*>(in[0]);
    const U* const b = static_cast<const U*>(in[of_b]);
    D* const d = static_cast<D*>(out);
    if constexpr (!is_complex(kDType<D>))
      if (has_bias) return plan->execute(alpha, a, b, beta, d, bias(static_cast<const D*>(in[2])));
    plan->execute(alpha, a, b, beta, d);
  };
  return {execute, plan->workspace_bytes(), plan->algorithm(), plan->describe()};
}

/// A field's arrays among the operands, and where an execution leaves each of its levels.
struct FieldOperands {
  SystemField field;
  std::size_t first;
  std::vector<std::size_t> after;
};

std::vector<FieldOperands> field_operands(const Problem& problem, const SystemPlan& plan) {
  std::vector<FieldOperands> fields;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const SystemOperand& operand = problem.operands[i];
    if (operand.use >= SystemOperand::Use::injected) break;
    const SystemField field(operand.index, problem.system.rank);
    if (operand.level == 0) fields.push_back({field, i, {}});
    const bool state = operand.use == SystemOperand::Use::state;
    fields.back().after.push_back(state ? std::size_t(plan.place_after(field, -operand.level)) : 0);
  }
  return fields;
}

template <class T>
Prepared prepare_system(const tessera::Context& context, const Problem& problem, const PlanOptions& options) {
  const StencilSystem system = system_of(problem.system, problem.kind.dtype);
  const auto plan = std::make_shared<SystemPlan>(context, system, problem.system.steps, options);
  const Execute execute = [plan, fields = field_operands(problem, *plan), operands = problem.operands](
                              const void* const*, void* list) {
    void** const arrays = static_cast<void**>(list);
    std::vector<FieldArrays> given;
    for (const FieldOperands& f : fields) {
      std::vector<SystemArray> levels;
      for (std::size_t level = 0; level < f.after.size(); ++level)
        levels.emplace_back(static_cast<T*>(arrays[f.first + level]));
      given.emplace_back(f.field, std::move(levels));
    }
    SystemSeries series;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].use >= SystemOperand::Use::injected)
        (operands[i].use == SystemOperand::Use::injected ? series.injected : series.recorded)
            .emplace_back(static_cast<T*>(arrays[i]));
    plan->execute(given, series);
    for (const FieldOperands& f : fields) {
      const std::vector<void*> before(arrays + f.first, arrays + f.first + f.after.size());
      for (std::size_t level = 0; level < f.after.size(); ++level) arrays[f.first + level] = before[f.after[level]];
    }
  };
  return {execute, plan->workspace_bytes(), plan->algorithm(), plan->describe()};
}

}  // namespace

Prepared prepare(const tessera::Context& context, const Problem& problem, const PlanOptions& options) {
  if (problem.kind.is_complex)
    return with_types<ComplexTypes>(problem.kind.element(), [&]<class T>(std::type_identity<T>) -> Prepared {
      return prepare_gemm<T, T, T>(context, problem, options);
    });
  if (problem.op == Op::gemm)
    return with_product_types(problem.kind,
                              [&]<class T, class U, class D>(std::type_identity<T>, std::type_identity<U>,
                                                             std::type_identity<D>) -> Prepared {
                                return prepare_gemm<T, U, D>(context, problem, options);
                              });
  return with_types(problem.kind.dtype, [&]<class T>(std::type_identity<T>) -> Prepared {
    if (problem.op == Op::system) return prepare_system<T>(context, problem, options);
    const auto plan = std::make_shared<StencilPlan>(context, stencil_desc(problem), options);
    const Execute execute = [plan](const void* const* in, void* out) {
      plan->execute(static_cast<const T*>(in[0]), static_cast<T*>(out));
    };
    return {execute, plan->workspace_bytes(), plan->algorithm(), plan->describe()};
  });
}

namespace {

/// The product with a B that is prepared when it is first seen, by what a plan chooses then.
class PreparedB : public Competitor {
 public:
  PreparedB(const Backend& backend, Memory memory)
      : context_(&backend.context), memory_(memory), name_("tessera:" + backend.name + ":prepared") {}

  std::string name() const override { return name_; }
  std::string unsupported(const Problem& problem) const override {
    return problem.op == Op::gemm && problem.gemm.prepared ? "" : "B is not prepared";
  }
  bool learns_operands() const override { return true; }
  Execute prepare(const Problem& problem) override {
    return with_product_types(
        problem.kind, [&]<class T, class U, class D>(std::type_identity<T>, std::type_identity<U>,
                                                     std::type_identity<D>) { return prepare_for<T, U, D>(problem); });
  }

 private:
  struct Known {
    PreparedOperand b;
    GemmPlan plan;
  };
  /// A of type T, B of type U, D and the bias of type D.
  template <class T, class U, class D>
  Execute prepare_for(const Problem& problem) const {
    using S = Scalar<D>;
    const GemmShape& g = problem.gemm;
    const auto known = std::make_shared<std::map<const void*, std::unique_ptr<Known>>>();
    return [known, context = context_, memory = memory_, desc = gemm_desc(problem), alpha = S(g.alpha),
            beta = S(g.beta), has_bias = g.bias != TESSERA_BIAS_NONE](const void* const* in, void* out) {
      std::unique_ptr<Known>& of_b = (*known)[in[1]];
      if (of_b == nullptr) {
        PreparedOperand b = tessera::prepare(*context, desc, static_cast<const U*>(in[1]), {.operands = memory});
        GemmPlan plan(*context, desc, {.operands = memory, .prepared = &b});
        of_b = std::make_unique<Known>(Known{std::move(b), std::move(plan)});
      }
      const T* const a = static_cast<const T*>(in[0]);
      const D* const values = static_cast<const D*>(in[2]);
      D* const d = static_cast<D*>(out);
      has_bias ? of_b->plan.execute(alpha, a, nullptr, beta, d, bias(values))
               : of_b->plan.execute(alpha, a, nullptr, beta, d);
    };
  }

  const tessera::Context* context_;
  Memory memory_;
  std::string name_;
};

/// One algorithm of a backend, as the registry names it. With a limit of the workspace, it takes part in the products
/// in which it takes more by itself.
class Algorithm : public Competitor {
 public:
  Algorithm(const Backend& backend, Memory memory, Op op, std::string algorithm, std::uint64_t limit = 0)
      : context_(&backend.context),
        memory_(memory),
        op_(op),
        algorithm_(std::move(algorithm)),
        limit_(limit),
        name_("tessera:" + backend.name + ":" + algorithm_) {
    if (limit_ != 0) name_ += "@" + std::to_string(limit_ >> 20) + "MiB";
  }

  std::string name() const override { return name_; }
  std::string unsupported(const Problem& problem) const override {
    if (problem.op != op_) return "it is of another operation";
    return limit_ == 0 || exceeds_limit(problem) ? "" : "it takes no more workspace by itself";
  }
  Execute prepare(const Problem& problem) override {
    Prepared made = perf::prepare(*context_, problem, forcing(algorithm_, limit_));
    workspace_ = made.workspace_bytes;
    return std::move(made.execute);
  }
  std::optional<std::uint64_t> workspace() const override { return workspace_; }
  /// Compared with all parameters: the same algorithm with another tile is not what the row measures.
  bool automatic(const Problem& problem) const override {
    const auto planned = [&](const std::string& forced) {
      return perf::prepare(*context_, problem, forcing(forced)).algorithm;
    };
    return limit_ == 0 && planned("") == planned(algorithm_);
  }

 private:
  PlanOptions forcing(const std::string& algorithm, std::uint64_t limit = 0) const {
    return {.operands = memory_, .algorithm = algorithm, .workspace_limit = limit};
  }
  /// Whether its plan takes more where nobody sets a limit.
  bool exceeds_limit(const Problem& problem) const {
    try {
      const auto offers = GemmPlan::offers(*context_, gemm_desc(problem), forcing(algorithm_));
      return !offers.empty() && offers.front().workspace_bytes > limit_;
    } catch (const tessera::Error&) {
      return false;  // the row without the limit says why
    }
  }

  const tessera::Context* context_;
  Memory memory_;
  Op op_;
  std::string algorithm_;
  std::uint64_t limit_;  ///< bytes; 0: the library's own
  std::string name_;
  std::optional<std::uint64_t> workspace_;
};

}  // namespace

bool has_stream(tessera::Context& context) {
  try {
    context.native_stream();
    return true;
  } catch (const tessera::Error& error) {
    if (error.code() == ErrorCode::unsupported) return false;
    throw;
  }
}

/// A stream alone may be of any kind, and so may names; a runtime knows its own memory.
std::string platform_of(tessera::Context& context) {
  if (!has_stream(context)) return "host";  // whose operands every backend takes
  std::string reason = "its memory is not CUDA's";
  try {
    tessera::Buffer<float> probe(context, 1);
    if (open_module("cuda").find<OwnsMemory>("tessera_perf_owns")(probe.data())) return "cuda";
  } catch (const std::exception& error) {
    reason = error.what();
  }
  throw std::runtime_error(context.backend() + " computes on a device that the suite cannot measure: " + reason);
}

namespace {

/// Adds peers that may not be there.
template <class Add>
void attempt(const std::string& names, LeftOut& left_out, Add&& add) {
  try {
    add();
  } catch (const std::exception& error) {
    left_out.emplace_back(names, error.what());
  }
}

void add_library_peers(Platform& platform, LeftOut& left_out) {
  struct Maker {
    const char* name;
    std::unique_ptr<Competitor> (*make)(const std::string&, int);
  };
  for (const auto& [name, make] : {Maker{"openblas", make_openblas},
                                   {"numpy_openblas", make_numpy_openblas},
                                   {"blis", make_blis},
                                   {"onednn", make_onednn},
                                   {"mkl", make_mkl}})
    attempt(std::string("peer:") + name, left_out, [&, name = name, make = make] {
      const std::string path = library_path(name);
      if (path.empty()) throw std::runtime_error("CMake did not find it");
      platform.peers.push_back(make(path, platform.threads));
    });
}

std::unique_ptr<Platform> open_platform(const std::string& name, int device, int threads, Facts& facts,
                                        LeftOut& left_out) {
  auto platform = std::make_unique<Platform>();
  platform->name = name;
  platform->index = device;
  platform->threads = threads;
  const Library module = open_module(name);
  platform->device.reset(module.find<MakeDevice>("tessera_perf_device")(device, threads));
  void* const stream = platform->device->native_stream();
  platform->own_memory = stream != nullptr;
  module.find<AddPeers>("tessera_perf_peers")(&platform->peers, stream, device, threads);
  if (platform->own_memory)
    attempt("peer:cublas, peer:cublaslt", left_out, [&] {
      open_module("cublas").find<AddPeers>("tessera_perf_peers")(&platform->peers, stream, device, threads);
    });
  else
    add_library_peers(*platform, left_out);
  for (const auto& fact : platform->device->facts()) facts.push_back(fact);
  for (const auto& peer : platform->peers)
    if (const std::string version = peer->version(); !version.empty())
      facts.emplace_back(peer->name().substr(peer->name().find(':') + 1), version);
  return platform;
}

void add_algorithms(Backend& backend, Memory memory, Facts& facts) {
  const std::string opened = backend.context.backend();
  for (const BackendInfo& info : tessera::backends()) {
    if (info.name != opened && info.name + "-" + info.variant != opened) continue;
    facts.emplace_back("backend_" + info.name, info.build_info);
    for (const std::string& name : info.gemm_algorithms) {
      backend.algorithms.push_back(std::make_unique<Algorithm>(backend, memory, Op::gemm, name));
      if (memory == Memory::device)  // what the limit is for
        backend.algorithms.push_back(
            std::make_unique<Algorithm>(backend, memory, Op::gemm, name, TESSERA_DEFAULT_WORKSPACE_LIMIT));
    }
    backend.algorithms.push_back(std::make_unique<PreparedB>(backend, memory));
    for (const std::string& name : info.stencil_algorithms)
      backend.algorithms.push_back(std::make_unique<Algorithm>(backend, memory, Op::stencil, name));
    for (const std::string& name : info.system_algorithms)
      backend.algorithms.push_back(std::make_unique<Algorithm>(backend, memory, Op::system, name));
  }
}

}  // namespace

std::vector<Competitor*> all_competitors(const Platform& platform) {
  std::vector<Competitor*> all;
  for (const auto& backend : platform.backends)
    for (const auto& algorithm : backend->algorithms) all.push_back(algorithm.get());
  for (const auto& peer : platform.peers) all.push_back(peer.get());
  return all;
}

void open_backend(Platforms& platforms, const std::string& asked, int threads, Facts& facts, LeftOut& left_out) {
  ContextOptions options;
  options.threads = threads;
  const std::string name = asked.substr(0, asked.find(':'));
  tessera::Context context(asked, options);
  const std::string where = platform_of(context);
  auto found =
      std::find_if(platforms.begin(), platforms.end(), [&](const auto& platform) { return platform->name == where; });
  if (found == platforms.end()) {
    platforms.push_back(open_platform(where, context.device(), threads, facts, left_out));
    found = platforms.end() - 1;
  }
  Platform& platform = **found;
  if (platform.index != context.device())
    throw std::runtime_error("a run measures one device of a kind, and this one is of " + where + ":" +
                             std::to_string(platform.index));
  for (const auto& backend : platform.backends)
    if (backend->name == name) throw std::runtime_error("it is asked for twice");
  if (platform.own_memory) {
    options.native_stream = platform.device->native_stream();
    context = tessera::Context(asked, options);
  }
  platform.backends.push_back(std::make_unique<Backend>(name, std::move(context)));
  add_algorithms(*platform.backends.back(), platform.own_memory ? Memory::device : Memory::host, facts);
}

}  // namespace tessera::perf
