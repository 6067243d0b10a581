// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Descriptors and options of any kind, on the processor and on the emulated device. What is accepted and small is
/// executed and compared with the reference; what is refused gives a reason and leaves everything usable.

#include "draw.hpp"
#include "misuse.hpp"
#include "runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

namespace tessera::test {

namespace {

struct Gemm {
  static constexpr tessera_op kOp = TESSERA_OP_GEMM;
  using Plan = GemmPlan;
  template <class T>
  using Trial = GemmTrial<T>;
  static Drawn<GemmCase> draw(Bytes& bytes) { return draw_gemm(bytes); }
};

struct Stencil {
  static constexpr tessera_op kOp = TESSERA_OP_STENCIL;
  using Plan = StencilPlan;
  template <class T>
  using Trial = StencilTrial<T>;
  static Drawn<StencilCase> draw(Bytes& bytes) { return draw_stencil(bytes); }
};

/// Backends as a context's specification names them, and numbers of threads.
using Specs = std::vector<std::pair<std::string, int>>;

/// A backend's contexts, of several numbers of threads or devices, and its algorithms.
struct Backend {
  std::vector<Context> contexts;
  std::vector<std::string> algorithms[3];  ///< by operation

  Backend(const std::string& name, const Specs& specs) {
    for (const auto& [spec, threads] : specs) {
      ContextOptions options;
      options.threads = threads;
      contexts.emplace_back(spec, options);
    }
    for (std::int64_t i = 0; i < tessera_backend_count(); ++i) {
      tessera_backend_info info{};
      info.struct_size = sizeof info;
      if (tessera_get_backend_info(i, &info, nullptr) != TESSERA_OK || info.name != name) continue;
      for (const tessera_op op : {TESSERA_OP_GEMM, TESSERA_OP_STENCIL})
        while (const char* known = tessera_algorithm_name(i, op, std::int64_t(algorithms[op].size())))
          algorithms[op].emplace_back(known);
    }
    for (const tessera_op op : {TESSERA_OP_GEMM, TESSERA_OP_STENCIL})
      require(!algorithms[op].empty(), "a backend without algorithms", name);
  }
};

std::vector<Backend>& backends() {
  static auto* const all = [] {
    auto* made = new std::vector<Backend>;
    made->emplace_back("cpu", Specs{{"cpu", 1}, {"cpu", 2}, {"cpu", 3}});
    made->emplace_back("fake", Specs{{"fake:0", 0}, {"fake:1", 0}});
    return made;
  }();
  return *all;
}

/// "", one that exists, one with parameters, or nonsense.
std::string draw_algorithm(Bytes& bytes, const Backend& backend, tessera_op op) {
  constexpr const char* keys[] = {"tile", "threads", "split", "block", "steps", "width", "rows", "depth", "x"};
  const std::int64_t kind = bytes.below(8);
  if (kind < 3) return "";
  if (kind == 7) return bytes.text(24);
  std::string text = bytes.pick(backend.algorithms[op]);
  if (kind == 3) return text;
  for (int count = int(bytes.below(3)), i = 0; i < count; ++i)
    text += std::string(i == 0 ? ":" : ",") + bytes.pick(keys) + "=" + std::to_string(extreme(bytes));
  return text;
}

/// Another value for one of the parameters that a plan prints.
std::string varied(Bytes& bytes, const std::string& printed) {
  const auto equals = printed.find('=');
  if (equals == std::string::npos) return printed;
  const auto end = std::min(printed.find(',', equals), printed.size());
  const std::int64_t value = bytes.below(2) == 0 ? 1 + bytes.below(40) : extreme(bytes);
  return printed.substr(0, equals + 1) + std::to_string(value) + printed.substr(end);
}

PlanOptions draw_options(Bytes& bytes, const Backend& backend, tessera_op op) {
  constexpr std::uint64_t limits[] = {0, 0, 1, 4096, 1 << 20, UINT64_MAX, std::uint64_t{1} << 63, INT64_MAX};
  PlanOptions options;
  options.operands = bytes.below(2) == 0 ? Memory::host : Memory::device;
  options.algorithm = draw_algorithm(bytes, backend, op);
  options.workspace_limit = bytes.pick(limits);
  return options;
}

/// Nothing that is asked for here is a defect of the library or of a device.
void check_refusal(const Error& error, bool must_be_accepted) {
  const std::string message = error.what();
  require(!message.empty(), "a refusal without a message");
  require(error.code() != ErrorCode::internal && error.code() != ErrorCode::device_error, "a defect:", message);
  require(!must_be_accepted || error.code() == ErrorCode::out_of_memory, "a good descriptor is refused:", message);
}

/// The plan cache gives what making a plan gives: the same plan, or the same refusal. Memory is another matter: begins
/// of arrays differ by some KiB, so that of two plans at the allocator's limit one may fit.
template <class Op>
void require_same_from_cache(Context& context, const auto& desc, const PlanOptions& options,
                             const std::string& expected) {
  std::string said;
  try {
    const auto first = Op::Plan::borrow(context, desc, options), clone = Op::Plan::borrow(context, desc, options);
    said = first.describe();
    require(clone.describe() == said, "a clone of the plan cache is another plan:", clone.describe());
  } catch (const Error& error) {
    if (error.code() == ErrorCode::out_of_memory) return;
    said = error.what();
  }
  require(said == expected, expected.c_str(), "the plan cache says: " + said);
}

template <class Op>
std::optional<typename Op::Plan> make(Context& context, const auto& desc, const PlanOptions& options, bool must) {
  try {
    typename Op::Plan plan(context, desc, options);
    require(!plan.describe().empty() && !plan.algorithm().empty(), "a plan that says nothing of itself");
    require_same_from_cache<Op>(context, desc, options, plan.describe());
    return plan;
  } catch (const Error& error) {
    check_refusal(error, must);
    if (error.code() != ErrorCode::out_of_memory) require_same_from_cache<Op>(context, desc, options, error.what());
  }
  return std::nullopt;
}

template <class Op, class T>
void compare(Bytes& bytes, const auto& problem, Context& context, typename Op::Plan& plan, const PlanOptions& options) {
  typename Op::template Trial<T> trial(problem);
  std::string wrong = trial.run(context, plan, options.operands);
  require(wrong.empty(), plan.describe().c_str(), wrong);
  if (bytes.below(4) == 0) {
    execute_wrongly(bytes, plan, options.operands);
    wrong = trial.run(context, plan, options.operands);
    require(wrong.empty(), "after a refused execution", wrong);
  }
  const bool forced = !options.algorithm.empty();
  if (!forced || bytes.below(2) == 0) return;
  PlanOptions other = options;
  other.algorithm = varied(bytes, plan.algorithm());
  if (auto again = make<Op>(context, problem.desc, other, false)) {
    wrong = trial.run(context, *again, options.operands);
    require(wrong.empty(), again->describe().c_str(), wrong);
  }
}

template <class Op>
void examine(Bytes& bytes) {
  Backend& backend = bytes.pick(backends());
  Context& context = bytes.pick(backend.contexts);
  auto [problem, tame] = Op::draw(bytes);
  problem.name = "fuzz " + std::to_string(bytes.byte());
  const PlanOptions options = draw_options(bytes, backend, Op::kOp);
  const bool must = tame && options.algorithm.empty();
  if (!must && bytes.one_in(4)) create_from_altered_bytes(bytes, context, problem.desc);
  std::optional<typename Op::Plan> plan;
  try {
    plan = make<Op>(context, problem.desc, options, must);
  } catch (const Error& error) {  // of the C++ layer, before the library is asked
    check_refusal(error, must);
  }
  if (!plan || !affordable(problem.desc)) return;
  with_types<WideTypes>(problem.desc.dtype, [&]<class T>(std::type_identity<T>) {
    compare<Op, T>(bytes, problem, context, *plan, options);
  });
  if (bytes.below(4) == 0) execute_in_one_array(bytes, problem.desc, *plan, options.operands);
}

}  // namespace

}  // namespace tessera::test

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // One for every run: the bytes alone choose.
  setenv("TESSERA_TEST_SEED", "1", 1);
  for (const char* name : {"TESSERA_BACKEND", "TESSERA_GEMM_ALGORITHM", "TESSERA_STENCIL_ALGORITHM",
                           "TESSERA_GEMM_COMPUTE", "TESSERA_NUM_THREADS", "TESSERA_VERBOSE"})
    unsetenv(name);
  setenv("TESSERA_BACKEND_PATH", TESSERA_FUZZ_PLUGINS, 1);
  setenv("OMP_WAIT_POLICY", "passive", 1);  // two targets share two processors; read when the plugin is loaded
  tessera::plan_cache::limit(8, 8 << 20);   // so that plans go, too
  tessera::test::backends();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tessera::test::Bytes bytes(data, size);
  if (bytes.below(2) == 0)
    tessera::test::examine<tessera::test::Gemm>(bytes);
  else
    tessera::test::examine<tessera::test::Stencil>(bytes);
  return 0;
}
