// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C table of abi.h, made from a backend class.
#pragma once

#include <tessera/plugin/algorithm.hpp>
#include <tessera/plugin/operands.hpp>
#include <tessera/plugin/prepare.hpp>
#include <tessera/plugin/ranked_offers.hpp>
#include <tessera/plugin/structs.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tessera::plugin {

/// A device that the backend can use.
struct Device {
  std::string name;
  std::uint64_t memory_bytes;
};

/// The functions of the C table, on a backend class.
template <class Backend>
class Table {
  using Context = typename Backend::Context;
  using Machine = typename Context::Machine;

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
                                       plan_offers,
                                       context_create,
                                       context_destroy,
                                       synchronize,
                                       buffer_allocate,
                                       buffer_free,
                                       copy,
                                       plan_create,
                                       plan_execute,
                                       plan_destroy,
                                       native_stream,
                                       buffer_repeat_entry(),
                                       timer_start_entry(),
                                       timer_stop_entry(),
                                       threads_entry(),
                                       wait_for_entry(),
                                       small_gemm_entry(),
                                       best_form_entry(),
                                       prepare_entry()};
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

  /// Calls body(std::type_identity<Problem>{}) for the operation.
  template <class Body>
  static void with_problem(tessera_op op, Body&& body) {
    if (op == TESSERA_OP_GEMM) return body(std::type_identity<GemmProblem>{});
    if (op == TESSERA_OP_STENCIL) return body(std::type_identity<StencilProblem>{});
    if (op == TESSERA_OP_SYSTEM) return body(std::type_identity<SystemProblem>{});
    throw Error(TESSERA_UNSUPPORTED, "operation " + std::to_string(op) + " is not known to this backend");
  }

  /// Null beyond the last.
  template <class Problem>
  static const Algorithm<Context, Problem>* algorithm_at(std::uint64_t index) {
    for (const auto& algorithm : Register<Context, Problem>::all())
      if (index-- == 0) return &algorithm;
    return nullptr;
  }

  static std::uint64_t algorithm_count(tessera_op op) {
    std::uint64_t count = 0;
    guard(nullptr, [&] {
      with_problem(op, [&]<class Problem>(std::type_identity<Problem>) {
        for ([[maybe_unused]] const auto& algorithm : Register<Context, Problem>::all()) ++count;
      });
    });
    return count;
  }

  static const char* algorithm_name(tessera_op op, std::uint64_t index) {
    const char* name = nullptr;
    guard(nullptr, [&] {
      with_problem(op, [&]<class Problem>(std::type_identity<Problem>) {
        if (const auto* algorithm = algorithm_at<Problem>(index)) name = algorithm->name;
      });
    });
    return name;
  }

  static tessera_status algorithm_supports(tessera_op op, std::uint64_t index, std::int32_t device,
                                           const tessera_desc* desc, tessera_error* error) {
    return guard(error, [&] {
      with_problem(op, [&]<class Problem>(std::type_identity<Problem>) {
        const Problem problem(desc);
        const auto* const algorithm = algorithm_at<Problem>(index);
        if (algorithm == nullptr) throw Error(TESSERA_UNSUPPORTED, "no algorithm " + std::to_string(index));
        check_device(device);
        const std::string why = why_not(*algorithm, problem, Backend::machine(device, 0));
        if (!why.empty()) throw Error(TESSERA_UNSUPPORTED, why);
      });
    });
  }

  /// Those of a device; of a host there are none to be limited.
  static int multiprocessors_of(const Machine& machine) {
    if constexpr ((Backend::kFlags & TESSERA_BACKEND_ON_HOST) != 0)
      return 0;
    else if constexpr (requires { machine.multiprocessors; })
      return machine.multiprocessors;
    else if constexpr (requires { machine.device.multiprocessors; })
      return machine.device.multiprocessors;
    else
      return (std::numeric_limits<int>::max)();
  }

  template <class Problem, class Request>
  static Problem problem_of(const Request& request, const Machine& machine) {
    Problem problem(request.desc);
    if (request.multiprocessors < multiprocessors_of(machine)) problem.multiprocessors = request.multiprocessors;
    if constexpr (std::is_same_v<Problem, GemmProblem>)
      if (request.form != nullptr) return with_form<Context>(problem, Form(request.prepared, request.form));
    return problem;
  }

  template <class Request>
  static GivenParameters given_parameters(const Request& request) {
    return {request.parameters, request.parameter_size, request.parameter_count};
  }

  /// Those of ranked_offers.hpp; throws where there is none.
  template <class Problem>
  static auto required_offers(const Problem& problem, const Machine& machine, const char* wanted,
                              const GivenParameters& given, std::uint64_t workspace_limit, bool only_cheapest) {
    std::string rejected;
    auto ranked = ranked_offers<Context>(problem, machine, wanted, given, workspace_limit, only_cheapest, rejected);
    if (ranked.empty())
      throw Error(TESSERA_UNSUPPORTED,
                  std::string(Backend::kName) + ": " + (rejected.empty() ? "there is no such algorithm" : rejected));
    return ranked;
  }

  template <class Problem>
  static double transfer_seconds(const Machine& machine, const Problem& problem, tessera_memory memory) {
    if constexpr (requires { Backend::transfer_seconds(machine, problem); })
      return memory == TESSERA_MEMORY_HOST ? Backend::transfer_seconds(machine, problem) : 0.0;
    return 0.0;
  }

  static tessera_status plan_offers(const tessera_offers_request* request, tessera_offer_visitor visit, void* data,
                                    tessera_error* error) {
    return guard(error, [&] {
      const auto known = read_struct<tessera_offers_request>(request, "the request for offers");
      check_device(known.device);
      const Machine machine = Backend::machine(known.device, known.threads);
      with_problem(known.desc->op, [&]<class Problem>(std::type_identity<Problem>) {
        const auto problem = problem_of<Problem>(known, machine);
        const auto ranked = required_offers(problem, machine, known.algorithm, given_parameters(known),
                                            known.workspace_limit, known.most == 1);
        const double transfer = transfer_seconds(machine, problem, known.memory);
        const std::size_t most = known.most == 0 ? ranked.size() : std::size_t(known.most);
        for (std::size_t i = 0; i < (std::min)(most, ranked.size()); ++i) {
          const auto& [algorithm, offer] = ranked[i];
          const std::string name = algorithm->name + offer.parameters.text();
          const tessera_offer told{sizeof told, name.c_str(), offer.seconds, transfer, offer.workspace_bytes};
          visit(data, &told);
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
      with_problem(known.desc->op, [&]<class Problem>(std::type_identity<Problem>) {
        const auto problem = problem_of<Problem>(known, unwrap(context).machine());
        auto made = std::make_unique<OwnedPlan>(make_plan(unwrap(context), problem, known));
        write_struct({sizeof *reply, made->algorithm.c_str(), made->plan->workspace_bytes()}, reply, "the plan reply");
        *plan = reinterpret_cast<tessera_backend_plan*>(made.release());
      });
    });
  }

  template <class Problem>
  static OwnedPlan make_plan(Context& context, const Problem& problem, const tessera_plan_request& request) {
    const auto [algorithm, offer] = required_offers(problem, context.machine(), request.algorithm,
                                                    given_parameters(request), request.workspace_limit, true)
                                        .front();
    OwnedPlan made{make(*algorithm, context, problem, offer.parameters), algorithm->name + offer.parameters.text()};
    if (made.plan->workspace_bytes() != offer.workspace_bytes)
      throw Error(TESSERA_INTERNAL, made.algorithm + " wants a workspace of " +
                                        std::to_string(made.plan->workspace_bytes()) + " bytes and offered " +
                                        std::to_string(offer.workspace_bytes));
    return made;
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

  static auto buffer_repeat_entry() -> decltype(tessera_backend::buffer_repeat) {
    if constexpr (requires(Context & context) { context.repeat(nullptr, std::uint64_t(), std::uint64_t()); })
      return [](tessera_backend_context* context, void* data, std::uint64_t block, std::uint64_t bytes,
                tessera_error* error) { return guard(error, [&] { unwrap(context).repeat(data, block, bytes); }); };
    return nullptr;
  }

  static auto timer_start_entry() -> decltype(tessera_backend::timer_start) {
    if constexpr (requires(Context & context) { context.start_timer(); })
      return [](tessera_backend_context* context, tessera_error* error) {
        return guard(error, [&] { unwrap(context).start_timer(); });
      };
    return nullptr;
  }

  static auto timer_stop_entry() -> decltype(tessera_backend::timer_stop) {
    if constexpr (requires(Context & context) { context.stop_timer(); })
      return [](tessera_backend_context* context, double* seconds, tessera_error* error) {
        return guard(error, [&] { *seconds = unwrap(context).stop_timer(); });
      };
    return nullptr;
  }

  static auto threads_entry() -> decltype(tessera_backend::threads) {
    if constexpr (requires(Context & context) { context.machine().threads; })
      return [](tessera_backend_context* context, std::int32_t* threads, tessera_error* error) {
        return guard(error, [&] { *threads = unwrap(context).machine().threads; });
      };
    return nullptr;
  }

  static auto wait_for_entry() -> decltype(tessera_backend::wait_for) {
    if constexpr (requires(Context & context) { context.wait_for(context); })
      return [](tessera_backend_context* context, tessera_backend_context* earlier, tessera_error* error) {
        return guard(error, [&] { unwrap(context).wait_for(unwrap(earlier)); });
      };
    return nullptr;
  }

  static auto best_form_entry() -> decltype(tessera_backend::best_form) {
    if constexpr (requires { &Context::copying; })
      return [](const tessera_offers_request* request, tessera_form_visitor visit, void* data, tessera_error* error) {
        return guard(error, [&] {
          const auto known = read_struct<tessera_offers_request>(request, "the request for a form");
          check_device(known.device);
          const Machine machine = Backend::machine(known.device, known.threads);
          const auto problem = problem_of<GemmProblem>(known, machine);
          const auto seconds = [&](const Form& form) {
            std::string rejected;
            const auto ranked = ranked_offers<Context>(with_form<Context>(problem, form), machine, known.algorithm,
                                                       given_parameters(known), known.workspace_limit, true, rejected);
            return ranked.empty() ? std::numeric_limits<double>::infinity() : ranked.front().offer.seconds;
          };
          const Form best = best_form<Context>(problem, machine, known.algorithm, known.prepared, seconds);
          const std::string text = best.text();
          const tessera_form told{sizeof told, text.c_str(), form_bytes<Context>(problem, machine, best)};
          visit(data, &told);
        });
      };
    return nullptr;
  }

  static auto prepare_entry() -> decltype(tessera_backend::prepare) {
    if constexpr (requires { &Context::copying; })
      return [](tessera_backend_context* context, const tessera_plan_request* request, const void* source, void* target,
                tessera_error* error) {
        return guard(error, [&] {
          const auto known = read_struct<tessera_plan_request>(request, "the request to prepare an operand");
          write_form(unwrap(context), GemmProblem(known.desc), Form(known.prepared, known.form), source, target);
        });
      };
    return nullptr;
  }

  static auto small_gemm_entry() -> decltype(tessera_backend::small_gemm) {
    if constexpr (requires { Backend::small_gemm; })
      return [](tessera_dtype dtype, std::int64_t* extent, std::int64_t* multiply_adds) {
        tessera_small_gemm_function function = nullptr;
        guard(nullptr, [&] { function = Backend::small_gemm(dtype, *extent, *multiply_adds); });
        return function;
      };
    return nullptr;
  }
};

}  // namespace tessera::plugin

/// Defines the one symbol that the plugin exports.
#define TESSERA_DEFINE_BACKEND(Backend)                                                               \
  extern "C" __attribute__((visibility("default"))) const tessera_backend* tessera_backend_v1(void) { \
    return tessera::plugin::Table<Backend>::get();                                                    \
  }
