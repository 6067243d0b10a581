// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// A backend that throws wherever it can: what it throws must arrive as a status. With TESSERA_UNAVAILABLE it says that
/// it cannot be used. With TESSERA_THROWING_ENTRY the function of that name throws past the table, against the
/// contract.

#include <tessera/plugin/plugin.hpp>

#include <cstdlib>
#include <stdexcept>

namespace {

using namespace tessera::plugin;

/// 0: an exception of the standard library, 1: an int, 2: exhausted memory.
[[noreturn]] void fail(std::int64_t kind, const char* where) {
  if (kind == 0) throw std::runtime_error(std::string("thrown by ") + where);
  if (kind == 1) throw 42;
  throw std::bad_alloc();
}

/// Device 0 makes contexts; devices 1, 2 and 3 throw.
struct ThrowingContext {
  explicit ThrowingContext(const tessera_backend_context_desc& desc) {
    if (desc.device > 0) fail(desc.device - 1, "the context");
  }
  int device() const { return 0; }
  /// Sizes 1000, 1001 and 1002 throw; size 2000 gives memory that cannot be copied.
  void* allocate(std::uint64_t bytes) {
    if (bytes >= 1000 && bytes <= 1002) fail(std::int64_t(bytes) - 1000, "allocate");
    return std::malloc(bytes + 1);
  }
  void free(void* data) noexcept { std::free(data); }
  void copy(const tessera_copy& c) { fail(c.extents[0] % 3, "copy"); }
  void synchronize() { fail(0, "synchronize"); }
  void* native_stream() { fail(1, "native_stream"); }
};

struct ThrowingPlan : Plan {
  explicit ThrowingPlan(std::int64_t kind) : kind_(kind) {}
  void execute(const Execution&) override { fail(kind_, "execute"); }
  std::int64_t kind_;
};

/// kind=0..2 throws when the plan is made, kind=3..5 when it is executed.
template <class Problem>
std::unique_ptr<Plan> make(ThrowingContext&, const Problem&, PlanOptions options) {
  const std::int64_t kind = options.parameters.take("kind", 0, 0, 5);
  if (kind < 3) fail(kind, "make");
  return std::make_unique<ThrowingPlan>(kind - 3);
}

template <class Problem>
const Algorithm<ThrowingContext, Problem> kAlgorithms[] = {
    {"throws", supports_all<Problem>, make<Problem>},
    {"undecided", [](const Problem&, int) -> std::string { fail(0, "why_unsupported"); }, make<Problem>}};

struct Throwing {
  static constexpr const char* kName = TESSERA_BACKEND_NAME;
  static constexpr std::uint32_t kFlags = TESSERA_BACKEND_ON_HOST;
  static const char* build_info() { return "throws"; }
  static void require_available() {
#if defined(TESSERA_UNAVAILABLE)
    throw Error(TESSERA_BACKEND_UNAVAILABLE, "the moon is not full");
#endif
  }
  static std::vector<Device> devices() { return std::vector<Device>(4, Device{"thrower", 1}); }
  using Context = ThrowingContext;
  static std::span<const Algorithm<Context, GemmProblem>> gemm_algorithms() { return kAlgorithms<GemmProblem>; }
  static std::span<const Algorithm<Context, StencilProblem>> stencil_algorithms() {
    return kAlgorithms<StencilProblem>;
  }
  static double score(int, const GemmProblem& p, tessera_memory, double) {
    if (p.m == 7) fail(1, "score");  // counts as "cannot"
    return 1e-6;
  }
  static double score(int, const StencilProblem&, tessera_memory, double) { return 1e-6; }
};

}  // namespace

#if defined(TESSERA_THROWING_ENTRY)
template <class Result, class... Arguments>
void make_throw(Result (*&function)(Arguments...)) {
  function = [](Arguments...) -> Result { fail(0, "an entry"); };
}

extern "C" __attribute__((visibility("default"))) const tessera_backend* tessera_backend_v1(void) {
  static tessera_backend table = *Table<Throwing>::get();
  const std::string_view entry = TESSERA_THROWING_ENTRY;
  if (entry == "entry") fail(1, "");
  if (entry == "available") make_throw(table.available);
  if (entry == "count") make_throw(table.device_count);
  if (entry == "info") make_throw(table.device_info);
  if (entry == "algorithms") make_throw(table.algorithm_count);
  if (entry == "names") make_throw(table.algorithm_name);
  return &table;
}
#else
TESSERA_DEFINE_BACKEND(Throwing)
#endif
