// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What GemmPlan and StencilPlan share: options, and what a plan tells of itself.
#pragma once

#include <tessera/context.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// How a plan is made.
struct PlanOptions {
  /// Where the operands of execute() live. Host operands of a device backend are staged, and execute() is synchronous.
  Memory operands = Memory::host;
  /// "[backend/]name[:key=value,...]" as describe() prints it; empty: the environment's or the backend's choice.
  std::string algorithm = {};
  /// Most device memory, in bytes, that a GEMM plan takes beside its operands; 0: TESSERA_DEFAULT_WORKSPACE_LIMIT.
  std::uint64_t workspace_limit = 0;
  /// Device memory to use instead of the plan's own, aligned to 256 bytes; the caller keeps it alive as long as the
  /// plan.
  void* workspace = nullptr;
  std::uint64_t workspace_bytes = 0;
};

/// A way to run a problem, and what it is predicted to cost.
struct Offer {
  std::string algorithm;          ///< with all parameters: what PlanOptions::algorithm takes
  double seconds;                 ///< of one execution on operands in the device's memory
  double transfer_seconds;        ///< of host operands to the device and back; 0 where nothing travels
  std::uint64_t workspace_bytes;  ///< what the plan will take
};

namespace detail {

inline tessera_plan_options c_options(const PlanOptions& options) {
  tessera_plan_options c{};
  c.struct_size = sizeof c;
  c.operands = static_cast<tessera_memory>(options.operands);
  c.algorithm = options.algorithm.empty() ? nullptr : options.algorithm.c_str();
  c.workspace_limit = options.workspace_limit;
  c.workspace = options.workspace;
  c.workspace_bytes = options.workspace_bytes;
  return c;
}

}  // namespace detail

/// Base of the plans. Move-only. Destruction waits for the plan's queued work. One plan is executed by one thread at a
/// time: a second execution before the first has returned throws invalid_argument. Other threads take clones.
class Plan {
 public:
  std::string backend() const { return info().backend; }
  int device() const { return info().device; }
  /// Name with all parameters, "tiled_shared:tile=32": what PlanOptions::algorithm takes.
  std::string algorithm() const { return info().algorithm; }
  std::uint64_t workspace_bytes() const { return info().workspace_bytes; }
  /// One line: operation, shapes, type, backend, algorithm, workspace.
  std::string describe() const { return info().description; }
  tessera_plan* get() const { return handle_.get(); }

  /// Elements [first, last) that an execution may touch, counted from the operand's pointer.
  std::pair<std::int64_t, std::int64_t> operand_range(int operand) const {
    std::pair<std::int64_t, std::int64_t> range;
    detail::call(tessera_plan_operand_range, get(), std::uint64_t(operand), &range.first, &range.second);
    return range;
  }

 protected:
  /// Names the plan that another one is to be a clone of.
  struct CloneOf {
    const Plan& original;
  };
  explicit Plan(CloneOf of) : host_memory_(of.original.host_memory_) {
    tessera_plan* made = nullptr;
    detail::call(tessera_plan_clone, of.original.get(), &made);
    handle_.reset(made);
  }
  Plan(const Context* context, const void* desc, const PlanOptions& options) {
    const tessera_plan_options c = detail::c_options(options);
    tessera_plan* made = nullptr;
    detail::call(tessera_plan_create, context == nullptr ? nullptr : context->alive(),
                 static_cast<const tessera_desc*>(desc), &c, &made);
    handle_.reset(made);
    host_memory_ = info().host_memory != 0;
  }

  static std::vector<Offer> offers(const Context& context, const void* desc, const PlanOptions& options) {
    struct Collected {
      std::vector<Offer> offers;
      std::exception_ptr failure;
    } collected;
    const auto visit = [](void* data, const tessera_offer* offer) {
      auto& to = *static_cast<Collected*>(data);
      try {
        to.offers.push_back({offer->algorithm, offer->seconds, offer->transfer_seconds, offer->workspace_bytes});
      } catch (...) {
        to.failure = std::current_exception();  // an exception must not pass through C
      }
    };
    const tessera_plan_options c = detail::c_options(options);
    detail::call(tessera_visit_offers, context.alive(), static_cast<const tessera_desc*>(desc), &c,
                 static_cast<tessera_offer_visitor>(visit), static_cast<void*>(&collected));
    if (collected.failure) std::rethrow_exception(collected.failure);
    return std::move(collected.offers);
  }

  void run(const tessera_operand* operands, std::uint64_t operand_count, const tessera_scalar* scalars,
           std::uint64_t scalar_count) {
    const tessera_execution execution{sizeof execution, operands, sizeof *operands,
                                      operand_count,    scalars,  sizeof(tessera_scalar),
                                      scalar_count,     nullptr,  0};
    detail::call(tessera_plan_execute, get(), &execution);
  }

  template <Element T>
  static tessera_operand operand(const T* data) {
    return {const_cast<std::remove_const_t<T>*>(data), static_cast<tessera_dtype>(kDType<T>), 0};
  }
  template <Element T>
  static tessera_scalar scalar(T value) {
    return {static_cast<tessera_dtype>(kDType<T>), 0, double(value), 0.0};
  }

  /// Throws unless `size` elements of host memory behind the pointer are and cover what the plan touches.
  void check_range(int index, const char* name, std::size_t size) const {
    if (!host_memory_)
      throw Error(ErrorCode::invalid_argument,
                  std::string(name) +
                      " is a range, which is host memory; this plan takes device operands: pass the "
                      "pointers of buffers, or make the plan with PlanOptions::operands = Memory::host");
    const auto [first, last] = operand_range(index);
    if (first < 0)
      throw Error(ErrorCode::invalid_argument,
                  std::string(name) + " has a halo before its first point: pass a pointer");
    if (std::uint64_t(last) > size)
      throw Error(ErrorCode::invalid_argument, std::string(name) + " has " + std::to_string(size) +
                                                   " elements; the plan needs " + std::to_string(last));
  }

 private:
  bool host_memory_ = true;

  tessera_plan_info info() const {
    tessera_plan_info c{};
    c.struct_size = sizeof c;
    detail::call(tessera_get_plan_info, get(), &c);
    return c;
  }
  struct Destroy {
    void operator()(tessera_plan* plan) const { tessera_plan_destroy(plan); }
  };
  std::unique_ptr<tessera_plan, Destroy> handle_;
};

}  // namespace tessera
