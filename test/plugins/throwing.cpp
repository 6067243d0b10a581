// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Backends that throw wherever they can: what they throw must arrive as a status. "unavailable" says that it cannot be
/// used. The function that "throws<function>" and "throws<function>static" name throws past the table, against the
/// contract.

#include "plugin_name.h"

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
  struct Machine {};
  explicit ThrowingContext(const tessera_backend_context_desc& desc) {
    if (desc.device > 0) fail(desc.device - 1, "the context");
  }
  Machine machine() const { return {}; }
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

using Machine = ThrowingContext::Machine;

void fail_to_offer(const GemmProblem& p) {
  if (p.m == 7) fail(1, "offers");
}
void fail_to_offer(const StencilProblem&) {}

/// kind=0..2 throws when the plan is made, kind=3..5 when it is executed.
template <class Problem>
void offers(const Problem& p, const Machine&, const GivenParameters& given, std::uint64_t, OfferList& list) {
  fail_to_offer(p);
  list.add({{{"kind", given.in_range("kind", 0, 0, 5)}}, 1e6});
}

template <class Problem>
std::unique_ptr<Plan> make(ThrowingContext&, const Problem&, const Parameters& parameters) {
  const std::int64_t kind = parameters.at("kind");
  if (kind < 3) fail(kind, "make");
  return std::make_unique<ThrowingPlan>(kind - 3);
}

template <class Problem>
std::string cannot_tell(const Problem&, const Machine&) {
  fail(0, "why_unsupported");
}

const Register<ThrowingContext, GemmProblem> kThrows{
    {"throws", supports_all<GemmProblem, Machine>, offers<GemmProblem>, make<GemmProblem>}, 0};
const Register<ThrowingContext, GemmProblem> kUndecided{
    {"undecided", cannot_tell<GemmProblem>, offers<GemmProblem>, make<GemmProblem>}, 1};
const Register<ThrowingContext, StencilProblem> kThrowsStencil{
    {"throws", supports_all<StencilProblem, Machine>, offers<StencilProblem>, make<StencilProblem>}, 0};
const Register<ThrowingContext, StencilProblem> kUndecidedStencil{
    {"undecided", cannot_tell<StencilProblem>, offers<StencilProblem>, make<StencilProblem>}, 1};

struct Throwing {
  static constexpr const char* kName = tessera_test_plugin_name;
  static constexpr std::uint32_t kFlags = TESSERA_BACKEND_ON_HOST;
  static const char* build_info() { return "throws"; }
  static void require_available() {
    if (kName == std::string_view("unavailable")) throw Error(TESSERA_BACKEND_UNAVAILABLE, "the moon is not full");
  }
  static std::vector<Device> devices() { return std::vector<Device>(4, Device{"thrower", 1}); }
  using Context = ThrowingContext;
  static Machine machine(int, int) { return {}; }
};

template <class Result, class... Arguments>
void make_throw(Result (*&function)(Arguments...)) {
  function = [](Arguments...) -> Result { fail(0, "an entry"); };
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const tessera_backend* tessera_backend_v1(void) {
  static tessera_backend table = *Table<Throwing>::get();
  const std::string_view name = tessera_test_plugin_name;
  if (name.starts_with("throwsentry")) fail(1, "");
  if (name.starts_with("throwsavailable")) make_throw(table.available);
  if (name.starts_with("throwscount")) make_throw(table.device_count);
  if (name.starts_with("throwsinfo")) make_throw(table.device_info);
  if (name.starts_with("throwsalgorithms")) make_throw(table.algorithm_count);
  if (name.starts_with("throwsnames")) make_throw(table.algorithm_name);
  if (name.starts_with("throwssmall")) make_throw(table.small_gemm);
  return &table;
}
