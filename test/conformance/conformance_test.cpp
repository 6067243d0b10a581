// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Every case over every algorithm of the backend under test, in all types, on host and device operands.

#include "runner.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace tessera::test {

namespace {

constexpr int kMostFailures = 10;  ///< of one algorithm, before the rest of its cases is left out

struct Gemm {
  static constexpr tessera_op kOp = TESSERA_OP_GEMM;
  static constexpr const char* kResult = "";
  static constexpr bool kOptional = false;  ///< whether an algorithm may refuse all
  using Case = GemmCase;
  using Plan = GemmPlan;
  template <class T>
  using Trial = GemmTrial<T>;
  static std::vector<Case> cases() { return gemm_cases(); }
};

/// Types of 16 bits with C and D of f32: the essential cases.
struct GemmToF32 : Gemm {
  static constexpr const char* kResult = "->f32";
  template <class T>
  using Trial = GemmTrial<T, float>;
  static std::vector<Case> cases() {
    std::vector<Case> list = gemm_cases();
    std::erase_if(list, [](const Case& c) { return !c.essential; });
    return list;
  }
};

/// f32 whose caller permits other arithmetic: the essential cases.
template <Compute kCompute>
struct GemmPermitting : Gemm {
  static constexpr const char* kResult = kCompute == Compute::bf16x6  ? " bf16x6"
                                         : kCompute == Compute::f16x3 ? " f16x3"
                                                                      : " tf32";
  template <class T>
  struct Trial : GemmTrial<T> {
    explicit Trial(const GemmCase& c) : GemmTrial<T>(c, kCompute) {}
  };
  static std::vector<Case> cases() { return GemmToF32::cases(); }
};

/// A of type T, B of type U, and the other way round: the essential cases.
template <class T, class U, Compute kCompute = Compute::strict>
struct GemmMixed : Gemm {
  static constexpr bool kOptional = true;  // of a backend that makes no copies in another type
  static inline const std::string kResult = std::string(" of ") + name_of(kDType<T>) + "*" + name_of(kDType<U>) +
                                            (kCompute == Compute::strict ? "" : " bf16x6");
  template <class Of>
  struct Trial : GemmTrial<T, Of, U> {
    explicit Trial(const GemmCase& c) : GemmTrial<T, Of, U>(c, kCompute) {}
  };
  static std::vector<Case> cases() { return GemmToF32::cases(); }
};

struct Stencil {
  static constexpr tessera_op kOp = TESSERA_OP_STENCIL;
  static constexpr const char* kResult = "";
  static constexpr bool kOptional = false;
  using Case = StencilCase;
  using Plan = StencilPlan;
  template <class T>
  using Trial = StencilTrial<T>;
  static std::vector<Case> cases() { return stencil_cases(); }
};

const char* text(Memory memory) { return memory == Memory::host ? "host" : "device"; }

/// Runs one plan, or a clone of it; its algorithm as printed, or "" when it does not support the case or takes no such
/// parameter.
template <class Op, class T>
std::string run_one(Subject& subject, typename Op::template Trial<T>& trial, const std::string& algorithm,
                    Memory memory, bool parameters_are_guesses, Tally& tally, bool clone = false) {
  const std::string name = algorithm.substr(0, algorithm.find(':'));
  std::string problem, printed;
  try {
    typename Op::Plan plan(subject.context(), trial.desc(), {.operands = memory, .algorithm = algorithm});
    if (clone) plan = plan.clone();
    subject.check_forced(plan, name);
    printed = plan.algorithm();
    problem = trial.run(subject.context(), plan, memory);
    ++tally.run;
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.empty()) problem = "an error without a message";
    if (error.code() == ErrorCode::unsupported && printed.empty()) {
      ++tally.refused[message.substr(0, 160)];
      return "";
    }
    if (parameters_are_guesses && error.code() == ErrorCode::invalid_argument && printed.empty()) return "";
    problem = "threw: " + message;
  }
  if (!problem.empty()) {
    ++tally.failed;
    FAIL_CHECK("algorithm " << (printed.empty() ? algorithm : printed) << ", " << text(memory)
                            << " operands: " << problem);
  }
  return printed;
}

/// The same of a B that is prepared for another number of rows, as device and host operands in turns.
template <class Op, class T>
void run_one_prepared(Subject& subject, typename Op::template Trial<T>& trial, const std::string& algorithm,
                      Random& random, Tally& tally) {
  const auto any = [&] { return random.bits() % 2 == 0 ? Memory::host : Memory::device; };
  const Memory memory = any(), memory_of_b = any();
  const std::int64_t rows = random.bits() % 3 == 0 ? std::int64_t(trial.desc().m) : random.integer(1, 300);
  std::string problem, printed, form;
  try {
    std::optional<PreparedOperand> b = trial.prepare(subject.context(), rows, algorithm, memory_of_b);
    form = b->form();
    GemmPlan plan(subject.context(), trial.desc(), {.operands = memory, .algorithm = algorithm, .prepared = &*b});
    if (random.bits() % 4 == 0) plan = plan.clone();
    b.reset();  // the plan keeps it alive
    subject.check_forced(plan, algorithm);
    printed = plan.algorithm();
    problem = trial.run_prepared(subject.context(), plan, memory);
    ++tally.run;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::unsupported && printed.empty()) {
      ++tally.refused[std::string(error.what()).substr(0, 160)];
      return;
    }
    problem = std::string("threw: ") + error.what();
  }
  if (problem.empty()) return;
  ++tally.failed;
  FAIL_CHECK("algorithm " << (printed.empty() ? algorithm : printed) << ", B prepared as '" << form << "' for " << rows
                          << " rows, " << text(memory_of_b) << " and " << text(memory) << " operands: " << problem);
}

/// All cases, or each every-th of the essential ones: first the sample of this run, then the others.
template <class Op>
struct Selection {
  explicit Selection(std::size_t every) {
    std::size_t index = 0;
    for (auto& c : Op::cases())
      if (every == 0 || (c.essential && index++ % every == 0)) cases.push_back(std::move(c));
    sample = draw_sample(cases);
  }
  std::vector<typename Op::Case> cases;
  std::size_t sample;  ///< number of cases in it

  /// Whether an algorithm is to run cases[i]: those of the sample, and others until it has run one. Types of 16 bits it
  /// may refuse.
  template <class T>
  bool wants(std::size_t i, const Tally& tally) const {
    return tally.failed < kMostFailures && (i < sample || (tally.run == 0 && !kNarrow<T> && !Op::kOptional));
  }
};

/// The backend's own choice must exist for every case, and be one of its list. Returns false where the backend, which
/// may do so, refuses.
template <class Op, class T>
bool check_automatic(Subject& subject, const typename Op::template Trial<T>& trial) {
  const auto names = subject.algorithms(Op::kOp);
  for (const Memory memory : {Memory::host, Memory::device}) try {
      typename Op::Plan plan(subject.context(), trial.desc(), {.operands = memory});
      const std::string chosen = plan.algorithm();
      CHECK(std::find(names.begin(), names.end(), chosen.substr(0, chosen.find(':'))) != names.end());
      CHECK_FALSE(plan.describe().empty());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported || subject.is_complete()) throw;
      return false;
    }
  return true;
}

/// What a test prints of each algorithm. Of a complete backend at least one must take the type, unless the caller asked
/// for one alone.
template <class Op, class T>
void report_all(Subject& subject, const std::vector<std::string>& names, const std::vector<Tally>& tallies,
                const std::string& suffix) {
  int runs = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    report(subject.spec() + "/" + names[i] + " " + name_of(kDType<T>) + Op::kResult + suffix, tallies[i],
           kNarrow<T> || Op::kOptional || is_for_some_products(names[i]));
    runs += tallies[i].run;
  }
  if (subject.is_complete() && names.size() == subject.algorithms(Op::kOp).size()) CHECK(runs > 0);
}

template <class Op, class T>
void run_all(Subject& subject, std::size_t every) {
  const auto names = subject.tested(Op::kOp);
  std::vector<Tally> tallies(names.size());
  const Selection<Op> selection(every);
  int refused = 0;
  for (std::size_t at = 0; at < selection.cases.size(); ++at) {
    const auto wanted = [&](const Tally& tally) { return selection.template wants<T>(at, tally); };
    if (at >= selection.sample && std::ranges::none_of(tallies, wanted)) break;
    const auto& c = selection.cases[at];
    INFO("case: " << c.name << "; repeat with TESSERA_TEST_SEED=" << seed());
    typename Op::template Trial<T> trial(c);
    if (!check_automatic<Op, T>(subject, trial)) ++refused;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool runs = wanted(tallies[i]);  // as both kinds of memory or neither
      for (const Memory memory : {Memory::host, Memory::device})
        if (runs && tallies[i].failed < kMostFailures)
          run_one<Op, T>(subject, trial, names[i], memory, false, tallies[i]);
    }
  }
  report_all<Op, T>(subject, names, tallies, "");
  if (refused > 0) std::cout << subject.spec() << " has no algorithm for " << refused << " of the cases\n";
}

template <class Op, class T>
void run_all_prepared(Subject& subject, std::size_t every) {
  const auto names = subject.tested(TESSERA_OP_GEMM);
  std::vector<Tally> tallies(names.size());
  const Selection<Op> selection(every);
  Random random("prepared");
  for (std::size_t at = 0; at < selection.cases.size(); ++at) {
    const auto wanted = [&](const Tally& tally) { return selection.template wants<T>(at, tally); };
    if (at >= selection.sample && std::ranges::none_of(tallies, wanted)) break;
    const auto& c = selection.cases[at];
    INFO("case: " << c.name << "; repeat with TESSERA_TEST_SEED=" << seed());
    typename Op::template Trial<T> trial(c);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (wanted(tallies[i])) run_one_prepared<Op, T>(subject, trial, names[i], random, tallies[i]);
  }
  if (!names.empty() && tallies.front().refused.contains(subject.spec() + " prepares no operands")) return;
  report_all<Op, T>(subject, names, tallies, " prepared");
}

/// "tile=32" is one of the entries of "tiled:stages=2,tile=32", and the only one of that key.
bool has_parameter(const std::string& printed, const std::string& entry) {
  const std::string list = "," + printed.substr(printed.find(':') + 1) + ",",
                    key = "," + entry.substr(0, entry.find('=') + 1);
  const auto at = list.find("," + entry + ",");
  return at != std::string::npos && list.find(key) == at && list.rfind(key) == at;
}

/// What plans print as their parameters is what they take and what their clones have, and other values work as well.
template <class Op, class T>
void run_parameters(Subject& subject) {
  const Selection<Op> selection(std::max<std::size_t>(7, short_list()));
  for (const std::string& name : subject.tested(Op::kOp)) {
    Tally tally;
    for (std::size_t at = 0; at < selection.cases.size() && selection.template wants<T>(at, tally); ++at) {
      const auto& c = selection.cases[at];
      INFO("case: " << c.name << "; repeat with TESSERA_TEST_SEED=" << seed());
      typename Op::template Trial<T> trial(c);
      const std::string printed = run_one<Op, T>(subject, trial, name, Memory::device, false, tally);
      if (printed.empty()) continue;
      CHECK(run_one<Op, T>(subject, trial, printed, Memory::device, false, tally) == printed);
      CHECK(run_one<Op, T>(subject, trial, name, Memory::host, false, tally, true) == printed);
      for (const std::string& other : neighbours(printed)) {
        const std::string taken = run_one<Op, T>(subject, trial, other, Memory::device, true, tally);
        if (!taken.empty()) CHECK(has_parameter(taken, other.substr(other.find(':') + 1)));
      }
    }
    report_all<Op, T>(subject, {name}, {tally}, " with other parameters");
  }
}

/// Small cases, too, on more threads than pay, by the algorithms that can be told how many.
template <class Op, class T>
void run_threads(Subject& subject, int threads) {
  const std::string entry = "threads=" + std::to_string(threads);
  const auto names = subject.tested(Op::kOp);
  std::vector<Tally> tallies(names.size());
  const Selection<Op> selection(1);
  for (std::size_t at = 0; at < selection.sample; ++at) {
    const auto& c = selection.cases[at];
    INFO("case: " << c.name << "; repeat with TESSERA_TEST_SEED=" << seed());
    typename Op::template Trial<T> trial(c);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (tallies[i].failed >= kMostFailures) continue;
      const std::string printed = run_one<Op, T>(subject, trial, names[i], Memory::host, false, tallies[i]);
      if (printed.find("threads=") == std::string::npos) continue;
      CHECK(has_parameter(run_one<Op, T>(subject, trial, names[i] + ":" + entry, Memory::host, false, tallies[i]),
                          entry));
    }
  }
  report_all<Op, T>(subject, names, tallies, " with " + entry);
}

/// Both values of a parameter, whichever of them the machine would take, where an algorithm has it. Blocks of 7 along k
/// are of odd length and begin between two pairs.
template <class Op, class T>
void run_both(Subject& subject, const std::string& key, const std::string& what) {
  const Selection<Op> selection(std::max<std::size_t>(1, short_list()));
  for (const std::string& name : subject.tested(Op::kOp)) {
    Tally tally;
    for (std::size_t at = 0; at < selection.cases.size() && selection.template wants<T>(at, tally); ++at) {
      const auto& c = selection.cases[at];
      INFO("case: " << c.name << "; repeat with TESSERA_TEST_SEED=" << seed());
      typename Op::template Trial<T> trial(c);
      const std::string printed = run_one<Op, T>(subject, trial, name, Memory::host, false, tally);
      if (printed.find(key + "=") == std::string::npos) break;
      for (const std::string& way : {key + "=0", key + "=1"})
        for (const std::string blocks : {"", ",block_m=16,block_n=48,block_k=7"}) {
          const std::string asked = name + ":" + way + blocks;
          const std::string taken = run_one<Op, T>(subject, trial, asked, Memory::host, false, tally);
          if (!taken.empty()) CHECK(has_parameter(taken, way));
        }
    }
    if (tally.run > 1) report_all<Op, T>(subject, {name}, {tally}, " with and without " + what);
  }
}

}  // namespace

TEST_CASE("products of bf16 by multiply-adds and by dot products", "[dot]") {
  Subject subject;
  run_both<Gemm, bfloat16>(subject, "dot", "dot products");
  run_both<GemmToF32, bfloat16>(subject, "dot", "dot products");
}

TEST_CASE("products whose A is copied, or read where it lies", "[gemm]") {
  Subject subject;
  run_both<Gemm, float>(subject, "copy_a", "copies of A");
  run_both<Gemm, double>(subject, "copy_a", "copies of A");
}

TEST_CASE("products computed as those of the transposed matrices", "[gemm]") {
  Subject subject;
  run_both<Gemm, float>(subject, "turned", "D turned");
  run_both<Gemm, double>(subject, "turned", "D turned");
}

TEMPLATE_LIST_TEST_CASE("every algorithm multiplies matrices", "[gemm]", ElementTypes) {
  Subject subject;
  run_all<Gemm, TestType>(subject, short_list());
}

TEMPLATE_LIST_TEST_CASE("every algorithm multiplies matrices into f32", "[gemm]", NarrowTypes) {
  Subject subject;
  run_all<GemmToF32, TestType>(subject, short_list());
}

TEMPLATE_TEST_CASE("every algorithm multiplies matrices in other arithmetic", "[gemm]", GemmPermitting<Compute::bf16x6>,
                   GemmPermitting<Compute::f16x3>, GemmPermitting<Compute::tf32>) {
  Subject subject;
  run_all<TestType, float>(subject, short_list());
}

TEMPLATE_TEST_CASE("every algorithm multiplies matrices of two types", "[gemm][mixed]", (GemmMixed<float, bfloat16>),
                   (GemmMixed<bfloat16, float>), (GemmMixed<float, float16>), (GemmMixed<float16, float>),
                   (GemmMixed<float, bfloat16, Compute::bf16x6>), (GemmMixed<bfloat16, float, Compute::bf16x6>),
                   (GemmMixed<float, float16, Compute::bf16x6>), (GemmMixed<float16, float, Compute::bf16x6>)) {
  Subject subject;
  run_all<TestType, float>(subject, short_list());
}

TEMPLATE_TEST_CASE("every algorithm multiplies matrices of f64 and f32", "[gemm][mixed]", (GemmMixed<double, float>),
                   (GemmMixed<float, double>)) {
  Subject subject;
  run_all<TestType, double>(subject, short_list());
}

TEMPLATE_LIST_TEST_CASE("every algorithm multiplies by a prepared matrix", "[gemm][prepared]", ElementTypes) {
  Subject subject;
  run_all_prepared<Gemm, TestType>(subject, short_list());
}

TEMPLATE_TEST_CASE("every algorithm multiplies by a prepared matrix in other types and arithmetic", "[gemm][prepared]",
                   GemmPermitting<Compute::bf16x6>, GemmPermitting<Compute::f16x3>, (GemmMixed<float, bfloat16>),
                   (GemmMixed<bfloat16, float>), (GemmMixed<float, bfloat16, Compute::bf16x6>),
                   (GemmMixed<float16, float, Compute::bf16x6>)) {
  Subject subject;
  run_all_prepared<TestType, float>(subject, short_list());
}

TEMPLATE_LIST_TEST_CASE("every algorithm applies stencils", "[stencil]", ElementTypes) {
  Subject subject;
  run_all<Stencil, TestType>(subject, short_list());
}

using OneOfEachSize = TypeList<float, bfloat16>;

TEMPLATE_LIST_TEST_CASE("parameters round-trip, and other values give right results", "[parameters]", OneOfEachSize) {
  Subject subject;
  run_parameters<Gemm, TestType>(subject);
  run_parameters<Stencil, TestType>(subject);
}

TEMPLATE_LIST_TEST_CASE("a number of threads that divides nothing evenly", "[threads]", ElementTypes) {
  if (short_list() > 0) SKIP("only with the full list: the code is the same in every variant");
  Subject subject(3);
  run_threads<Gemm, TestType>(subject, 3);
  run_threads<Stencil, TestType>(subject, 3);
}

}  // namespace tessera::test
