// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// C++ for authors of backends: write a backend class and a few Algorithm constants, and
/// TESSERA_DEFINE_BACKEND makes the C table of abi.h from them.
///
///     struct MyBackend {
///       static constexpr const char* kName = "mine";
///       static constexpr std::uint32_t kFlags = 0;           // or TESSERA_BACKEND_ON_HOST
///       static const char* build_info();
///       static void require_available();                     // throws Error with the reason
///       static std::vector<Device> devices();
///       struct Context {
///         explicit Context(const tessera_backend_context_desc&);
///         int device() const;
///         void* allocate(std::uint64_t bytes);
///         void free(void*) noexcept;
///         void copy(const tessera_copy&);
///         void synchronize();
///         void* native_stream();
///       };
///       // In order of preference; the first that supports a problem is the automatic choice ...
///       static std::span<const Algorithm<Context, GemmProblem>> gemm_algorithms();
///       static std::span<const Algorithm<Context, StencilProblem>> stencil_algorithms();
///       // ... unless the backend chooses: the name of one that supports the problem. Both may be left out.
///       static std::string_view preferred(int device, const GemmProblem&);
///       static std::string_view preferred(int device, const StencilProblem&);
///       // Predicted executions per second of an algorithm that reaches `share` of the best one's rate.
///       static double score(int device, const GemmProblem&, tessera_memory, double share);
///       static double score(int device, const StencilProblem&, tessera_memory, double share);
///     };
///     TESSERA_DEFINE_BACKEND(MyBackend)
#pragma once

#include <tessera/plugin/abi.h>
#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tessera::plugin {

struct Device {
  std::string name;
  std::uint64_t memory_bytes;
};

/// The parameters of a plan: given ones are taken by the algorithm, and what it took, with the
/// values in force, becomes part of the plan's printed name.
class Parameters {
 public:
  Parameters() = default;
  explicit Parameters(const tessera_plan_request& request) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(request.parameters);
    for (std::uint64_t i = 0; i < request.parameter_count; ++i) {
      tessera_parameter p{};
      std::memcpy(&p, bytes + i * request.parameter_size, std::min<std::size_t>(sizeof p, request.parameter_size));
      given_.push_back({p.key, p.value});
    }
  }

  /// The given value, which must be one of `allowed`, or `automatic` when none was given.
  std::int64_t take(const std::string& key, std::int64_t automatic, std::span<const std::int64_t> allowed) {
    const std::int64_t value = find(key, automatic);
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
      std::string list;
      for (const auto a : allowed) list += (list.empty() ? "" : ", ") + std::to_string(a);
      throw Error(TESSERA_INVALID_ARGUMENT,
                  "parameter " + key + " = " + std::to_string(value) + ": must be one of " + list);
    }
    return record(key, value);
  }

  /// The given value, which must lie in [low, high], or `automatic` when none was given.
  std::int64_t take(const std::string& key, std::int64_t automatic, std::int64_t low, std::int64_t high) {
    const std::int64_t value = find(key, automatic);
    if (value < low || value > high)
      throw Error(TESSERA_INVALID_ARGUMENT, "parameter " + key + " = " + std::to_string(value) + ": must lie in [" +
                                                std::to_string(low) + ", " + std::to_string(high) + "]");
    return record(key, value);
  }

  /// ":tile=32,stages=3", or "" where the algorithm took none. Throws for a given parameter that it did not take.
  std::string finish(const std::string& algorithm) const {
    std::string text, names;
    for (const auto& [key, value] : taken_) {
      text += (text.empty() ? ":" : ",") + key + "=" + std::to_string(value);
      names += (names.empty() ? "" : ", ") + key;
    }
    for (const auto& given : given_)
      if (std::none_of(taken_.begin(), taken_.end(), [&](const Entry& e) { return e.key == given.key; }))
        throw Error(TESSERA_INVALID_ARGUMENT, "algorithm " + algorithm + " has no parameter " + given.key +
                                                  (names.empty() ? "; it has none" : "; it has " + names));
    return text;
  }

 private:
  struct Entry {
    std::string key;
    std::int64_t value;
  };
  std::int64_t find(const std::string& key, std::int64_t automatic) const {
    for (const auto& e : given_)
      if (e.key == key) return e.value;
    return automatic;
  }
  std::int64_t record(const std::string& key, std::int64_t value) {
    taken_.push_back({key, value});
    return value;
  }
  std::vector<Entry> given_, taken_;
};

/// One execution, checked by the core: see abi.h for what holds.
class Execution {
 public:
  explicit Execution(const tessera_execution& e) : e_(e) {}
  template <class T>
  T* operand(int i) const {
    return static_cast<T*>(at<tessera_operand>(e_.operands, e_.operand_size, i).data);
  }
  template <class T>
  T scalar(int i) const {
    return static_cast<T>(at<tessera_scalar>(e_.scalars, e_.scalar_size, i).real);
  }
  template <class T>
  T* workspace() const {
    return static_cast<T*>(e_.workspace);
  }

 private:
  template <class S>
  static const S& at(const void* array, std::uint64_t element_size, int i) {
    return *reinterpret_cast<const S*>(static_cast<const unsigned char*>(array) + std::uint64_t(i) * element_size);
  }
  const tessera_execution& e_;
};

/// A plan of one algorithm. It keeps what it needs of the problem, and a reference to its context,
/// which outlives it.
class Plan {
 public:
  virtual ~Plan() = default;
  /// Queues the work (or does it, on the host). Allocates nothing.
  virtual void execute(const Execution& execution) = 0;
  /// What every execution gets, 256-byte aligned, not shared with another plan.
  virtual std::uint64_t workspace_bytes() const { return 0; }
};

/// What an algorithm may take into account when it makes a plan.
struct PlanOptions {
  Parameters& parameters;
  std::uint64_t workspace_limit;
};

/// A way to solve a Problem (GemmProblem or StencilProblem); one constant per algorithm.
template <class Context, class Problem>
struct Algorithm {
  const char* name;
  /// "" where it can solve the problem on that device, else the reason why not.
  std::string (*why_unsupported)(const Problem&, int device);
  std::unique_ptr<Plan> (*make)(Context&, const Problem&, PlanOptions);
  /// Of the rate of the backend's best algorithm, roughly: what a backend is ranked by when this one is forced.
  double share = 1.0;
};

/// why_unsupported of an algorithm that solves everything.
template <class Problem>
std::string supports_all(const Problem&, int) {
  return {};
}

template <class Backend>
class Table {
  using Context = typename Backend::Context;

 public:
  static const tessera_backend* get() {
    static const tessera_backend table{sizeof(tessera_backend),
                                       TESSERA_BACKEND_ABI_VERSION,
                                       Backend::kFlags,
                                       Backend::kName,
                                       Backend::build_info(),
                                       available,
                                       device_count,
                                       device_info,
                                       algorithm_count,
                                       algorithm_name,
                                       algorithm_supports,
                                       score,
                                       context_create,
                                       context_destroy,
                                       synchronize,
                                       buffer_allocate,
                                       buffer_free,
                                       copy,
                                       plan_create,
                                       plan_execute,
                                       plan_destroy,
                                       native_stream};
    return &table;
  }

 private:
  struct OwnedPlan {
    std::unique_ptr<Plan> plan;
    std::string algorithm;
  };

  static tessera_status available(tessera_error* error) {
    return guard(error, [] {
      Backend::require_available();
      devices();  // while a failure can be told
    });
  }

  /// Listed once: device names must live as long as the process, and devices do not come and go.
  static const std::vector<Device>& devices() {
    static const auto* list = new std::vector<Device>(Backend::devices());
    return *list;
  }

  static std::int32_t device_count() {
    std::int32_t count = 0;
    guard(nullptr, [&] { count = std::int32_t(devices().size()); });
    return count;
  }

  static tessera_status device_info(std::int32_t device, tessera_device_info* info, tessera_error* error) {
    return guard(error, [&] {
      check_device(device);
      const Device& known = devices()[std::size_t(device)];
      write_struct({sizeof *info, known.name.c_str(), known.memory_bytes}, info, "the device info");
    });
  }

  static void check_device(std::int32_t device) {
    if (device < 0 || std::size_t(device) >= devices().size())
      throw Error(TESSERA_BACKEND_UNAVAILABLE, std::string(Backend::kName) + " has no device " +
                                                   std::to_string(device) + "; it has " +
                                                   std::to_string(devices().size()));
  }

  /// Calls body(list of algorithms, problem type tag) for the operation.
  template <class Body>
  static void with_algorithms(tessera_op op, Body&& body) {
    if (op == TESSERA_OP_GEMM) return body(Backend::gemm_algorithms(), std::type_identity<GemmProblem>{});
    if (op == TESSERA_OP_STENCIL) return body(Backend::stencil_algorithms(), std::type_identity<StencilProblem>{});
    throw Error(TESSERA_UNSUPPORTED, "operation " + std::to_string(op) + " is not known to this backend");
  }

  static std::uint64_t algorithm_count(tessera_op op) {
    std::uint64_t count = 0;
    guard(nullptr, [&] { with_algorithms(op, [&](auto list, auto) { count = list.size(); }); });
    return count;
  }

  static const char* algorithm_name(tessera_op op, std::uint64_t index) {
    const char* name = nullptr;
    guard(nullptr, [&] {
      with_algorithms(op, [&](auto list, auto) { name = index < list.size() ? list[index].name : nullptr; });
    });
    return name;
  }

  static tessera_status algorithm_supports(tessera_op op, std::uint64_t index, std::int32_t device,
                                           const tessera_desc* desc, tessera_error* error) {
    return guard(error, [&] {
      with_algorithms(op, [&](auto list, auto tag) {
        const typename decltype(tag)::type problem(desc);
        if (index >= list.size()) throw Error(TESSERA_UNSUPPORTED, "no algorithm " + std::to_string(index));
        const std::string why = list[index].why_unsupported(problem, device);
        if (!why.empty()) throw Error(TESSERA_UNSUPPORTED, why);
      });
    });
  }

  static tessera_status score(std::int32_t device, const tessera_desc* desc, tessera_memory memory,
                              std::int64_t algorithm, double* result, tessera_error* error) {
    return guard(error, [&] {
      *result = 0.0;
      with_algorithms(desc->op, [&](auto list, auto tag) {
        const typename decltype(tag)::type problem(desc);
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (algorithm != TESSERA_CHOSEN_ALGORITHM && std::uint64_t(algorithm) != i) continue;
          if (!list[i].why_unsupported(problem, device).empty()) continue;
          const double share = algorithm == TESSERA_CHOSEN_ALGORITHM ? 1.0 : list[i].share;
          *result = Backend::score(device, problem, memory, share);
          return;
        }
      });
    });
  }

  static Context& unwrap(tessera_backend_context* context) { return *reinterpret_cast<Context*>(context); }

  static tessera_status context_create(const tessera_backend_context_desc* desc, tessera_backend_context** context,
                                       tessera_error* error) {
    return guard(error, [&] {
      const auto known = read_struct<tessera_backend_context_desc>(desc, "the context descriptor");
      Backend::require_available();
      check_device(known.device);
      *context = reinterpret_cast<tessera_backend_context*>(new Context(known));
    });
  }

  static void context_destroy(tessera_backend_context* context) {
    guard(nullptr, [&] { delete &unwrap(context); });
  }

  static tessera_status synchronize(tessera_backend_context* context, tessera_error* error) {
    return guard(error, [&] { unwrap(context).synchronize(); });
  }

  static tessera_status buffer_allocate(tessera_backend_context* context, std::uint64_t bytes, void** data,
                                        tessera_error* error) {
    return guard(error, [&] { *data = unwrap(context).allocate(bytes); });
  }

  static void buffer_free(tessera_backend_context* context, void* data) { unwrap(context).free(data); }

  static tessera_status copy(tessera_backend_context* context, const tessera_copy* copy, tessera_error* error) {
    return guard(error, [&] { unwrap(context).copy(read_struct<tessera_copy>(copy, "the copy")); });
  }

  static tessera_status plan_create(tessera_backend_context* context, const tessera_plan_request* request,
                                    tessera_backend_plan** plan, tessera_plan_reply* reply, tessera_error* error) {
    return guard(error, [&] {
      const auto known = read_struct<tessera_plan_request>(request, "the plan request");
      with_algorithms(known.desc->op, [&](auto list, auto tag) {
        const typename decltype(tag)::type problem(known.desc);
        auto made = std::make_unique<OwnedPlan>(make_plan(unwrap(context), list, problem, known));
        write_struct({sizeof *reply, made->algorithm.c_str(), made->plan->workspace_bytes()}, reply, "the plan reply");
        *plan = reinterpret_cast<tessera_backend_plan*>(made.release());
      });
    });
  }

  /// "" where the order of the list decides.
  template <class Problem>
  static std::string_view preferred(int device, const Problem& problem) {
    if constexpr (requires { Backend::preferred(device, problem); }) return Backend::preferred(device, problem);
    return {};
  }

  template <class List, class Problem>
  static OwnedPlan make_plan(Context& context, List list, const Problem& problem, const tessera_plan_request& request) {
    const std::string_view wanted =
        request.algorithm != nullptr ? request.algorithm : preferred(context.device(), problem);
    std::string rejected;
    for (const auto& algorithm : list) {
      if (!wanted.empty() && wanted != algorithm.name) continue;
      if (const std::string why = algorithm.why_unsupported(problem, context.device()); !why.empty()) {
        rejected += (rejected.empty() ? "" : "; ") + std::string(algorithm.name) + ": " + why;
        continue;
      }
      Parameters parameters(request);
      OwnedPlan made{algorithm.make(context, problem, PlanOptions{parameters, request.workspace_limit}), {}};
      made.algorithm = algorithm.name + parameters.finish(algorithm.name);
      return made;
    }
    if (rejected.empty()) rejected = "there is no such algorithm";
    throw Error(TESSERA_UNSUPPORTED, std::string(Backend::kName) + ": " + rejected);
  }

  static tessera_status plan_execute(tessera_backend_plan* plan, const tessera_execution* execution,
                                     tessera_error* error) {
    return guard(error, [&] { reinterpret_cast<OwnedPlan*>(plan)->plan->execute(Execution(*execution)); });
  }

  static void plan_destroy(tessera_backend_plan* plan) {
    guard(nullptr, [&] { delete reinterpret_cast<OwnedPlan*>(plan); });
  }

  static tessera_status native_stream(tessera_backend_context* context, void** stream, tessera_error* error) {
    return guard(error, [&] { *stream = unwrap(context).native_stream(); });
  }
};

}  // namespace tessera::plugin

/// Defines the one symbol that the plugin exports.
#define TESSERA_DEFINE_BACKEND(Backend)                                                               \
  extern "C" __attribute__((visibility("default"))) const tessera_backend* tessera_backend_v1(void) { \
    return tessera::plugin::Table<Backend>::get();                                                    \
  }
