// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What GemmPlan, StencilPlan and SystemPlan share: options, and what a plan tells of itself.
#pragma once

#include <tessera/buffer.hpp>
#include <tessera/context.hpp>
#include <tessera/prepared.hpp>

#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace tessera {

/// What an operand is to an operation.
enum class Role : std::int32_t {
  a = TESSERA_ROLE_A,
  b = TESSERA_ROLE_B,
  c = TESSERA_ROLE_C,
  d = TESSERA_ROLE_D,
  bias = TESSERA_ROLE_BIAS,
  aux = TESSERA_ROLE_AUX,
  in = TESSERA_ROLE_IN,
  out = TESSERA_ROLE_OUT
};
/// "a", "b", "c", "d", "bias", "aux", "in", "out".
inline const char* name_of(Role role) {
  switch (role) {
    case Role::a:
      return "a";
    case Role::b:
      return "b";
    case Role::c:
      return "c";
    case Role::d:
      return "d";
    case Role::bias:
      return "bias";
    case Role::aux:
      return "aux";
    case Role::in:
      return "in";
    case Role::out:
      return "out";
  }
  return "?";
}

/// How a plan's algorithm is chosen where nobody forces one, with all its parameters. Wisdom comes first: what was
/// measured before.
enum class Effort : tessera_effort {
  automatic = TESSERA_EFFORT_DEFAULT,  ///< what TESSERA_PLAN_EFFORT says, else estimate
  estimate = TESSERA_EFFORT_ESTIMATE,  ///< by the model of time
  /// By running the best few, on operands that the plan makes for it: less than 50 ms for problems that take below
  /// 1 ms, below 30 executions for others. Waits for what is queued on the context.
  measure = TESSERA_EFFORT_MEASURE
};

/// How a plan is made.
struct PlanOptions {
  /// Memory in which the operands of execute() live. Host operands of a device backend are staged, and execute() is
  /// synchronous.
  Memory operands = Memory::host;
  Effort effort = Effort::automatic;  ///< how the algorithm is chosen where nobody forces one
  /// As describe() prints it, "[backend/]name[:key=value,...]". Empty: the environment's or the backend's choice.
  std::string algorithm = {};
  /// Most device memory, in bytes, that a GEMM plan takes beside its operands. 0: TESSERA_DEFAULT_WORKSPACE_LIMIT, for
  /// products of two types what a copy of the narrower operand takes besides, for complex ones twice B and a transposed
  /// A, and for those on a device that permit other arithmetic than strict a quarter of its memory, where that is to be
  /// had: parts of the operands take 4 to 6 bytes an element.
  std::uint64_t workspace_limit = 0;
  /// Device memory to use instead of the plan's own, aligned to 256 bytes. The caller owns it and keeps it alive as
  /// long as the plan. It must hold what Plan::workspace_bytes() tells.
  void* workspace = nullptr;
  std::uint64_t workspace_bytes = 0;  ///< size of `workspace`
  /// The most multiprocessors of a device that the plan's kernels occupy. Others are left to what runs beside them. 0:
  /// what TESSERA_SM_LIMIT says, else all. All as well where the device has no more, and where it has none: a
  /// processor. An algorithm that cannot keep it refuses, and so the choice may be another; with the same
  /// algorithm and parameters the bits are the same.
  int sm_limit = 0;
  /// B as prepare() has laid it out; null: executions bring B. Else they bring nullptr. The plan keeps it alive. It
  /// runs in a context of the same backend and device, its own where none is given. The descriptor is that with which
  /// it was prepared, but for m, C, D, bias, activation and aux, and the batch where B was one matrix; nobody looks at
  /// ldb, and at stride_b unless it is 0.
  const PreparedOperand* prepared = nullptr;
};

/// A way to run a problem, and what it is predicted to cost.
struct Offer {
  std::string algorithm;          ///< with all parameters: what PlanOptions::algorithm takes
  double seconds;                 ///< of one execution on operands in the device's memory
  double transfer_seconds;        ///< of host operands to the device and back; 0 where nothing travels
  std::uint64_t workspace_bytes;  ///< what the plan will take
};

/// A way to run a problem that was timed.
struct Tried {
  std::string backend;
  int device;
  std::string algorithm;     ///< with all parameters
  double predicted_seconds;  ///< of one execution on operands in the device's memory
  double seconds;            ///< the same as it was measured, a lower quartile
  double whole_seconds;      ///< of the best of a backend with operands in the host's memory, as it was measured where
                             ///< backends were compared; else 0
  bool estimated;            ///< what a plan by the model of time would take
  bool chosen;               ///< what a plan takes from now on
};

namespace detail {

inline tessera_plan_options c_options(const PlanOptions& options) {
  tessera_plan_options c{};
  c.struct_size = sizeof c;
  c.operands = static_cast<tessera_memory>(options.operands);
  c.effort = static_cast<tessera_effort>(options.effort);
  c.algorithm = options.algorithm.empty() ? nullptr : options.algorithm.c_str();
  c.workspace_limit = options.workspace_limit;
  c.workspace = options.workspace;
  c.workspace_bytes = options.workspace_bytes;
  c.sm_limit = options.sm_limit;
  c.prepared = options.prepared == nullptr ? nullptr : options.prepared->alive();
  return c;
}

/// The type of an operand's elements: of a pointer, a range, a Buffer or a std::mdspan.
template <class Operand>
struct ElementOf {};
template <class T>
struct ElementOf<T*> {
  using type = std::remove_cv_t<T>;
};
template <std::ranges::contiguous_range Range>
struct ElementOf<Range> {
  using type = std::ranges::range_value_t<Range>;
};
template <class T>
struct ElementOf<Buffer<T>> {
  using type = T;
  static constexpr Memory kMemory = Memory::device;
};
#if defined(__cpp_lib_mdspan)
template <class T, class E, class L, class A>
struct ElementOf<std::mdspan<T, E, L, A>> {
  using type = std::remove_cv_t<T>;
};
#endif
template <class Operand>
using element_of = typename ElementOf<std::remove_cvref_t<Operand>>::type;

/// What an operand may be.
template <class T>
concept Operand = Element<element_of<T>>;
/// Whether an operand's elements may be changed.
template <class T>
struct IsConst : std::false_type {};
template <class T>
struct IsConst<const T*> : std::true_type {};
template <std::ranges::contiguous_range Range>
struct IsConst<Range> : std::is_const<std::remove_reference_t<std::ranges::range_reference_t<Range>>> {};
template <class T>
inline constexpr bool kWritable =
    !IsConst<std::conditional_t<std::is_pointer_v<std::remove_cvref_t<T>>, std::remove_cvref_t<T>,
                                std::remove_reference_t<T>>>::value;

/// The options of a plan for operands like `Output`: buffers are on the device, all else is where the options say.
template <class Output>
PlanOptions options_for(PlanOptions options) {
  if constexpr (requires { ElementOf<std::decay_t<Output>>::kMemory; })
    options.operands = ElementOf<std::decay_t<Output>>::kMemory;
  return options;
}

/// Throws unless an operand of one call, in which the operands tell the plan's types, is of the same type as others.
inline void require_type(const char* name, DType given, const char* others, DType wanted) {
  if (given != wanted)
    throw Error(ErrorCode::invalid_argument, std::string(name) + " is of type " + name_of(given) + ": must be " +
                                                 name_of(wanted) + ", the type of " + others);
}

}  // namespace detail

/// What every plan tells: the base of plans. Move-only. Destruction waits for the plan's queued work, or gives a
/// borrowed plan back. One plan is executed by one thread at a time: a second execution before the first has returned
/// throws invalid_argument. Other threads take clones.
class Plan {
 public:
  /// Name of the backend, "cpu-v4".
  std::string backend() const { return info().backend; }
  /// Number of the backend's device.
  int device() const { return info().device; }
  /// Name with all parameters, "tiled_shared:tile=32": what PlanOptions::algorithm takes.
  std::string algorithm() const { return info().algorithm; }
  /// Memory that the plan has beside its operands, in bytes.
  std::uint64_t workspace_bytes() const { return info().workspace_bytes; }
  /// One line: operation, shapes, type, backend, algorithm, workspace.
  std::string describe() const { return info().description; }
  /// The handle of the C API, which the plan owns; null where this was moved from.
  tessera_plan* get() const { return handle_.get(); }

  /// Elements [first, last) that an execution may touch. They are counted from the operand's pointer.
  std::pair<std::int64_t, std::int64_t> operand_range(Role role) const {
    std::pair<std::int64_t, std::int64_t> range;
    detail::call(tessera_plan_operand_range, get(), tessera_role(role), &range.first, &range.second);
    return range;
  }

 protected:
  /// Names the plan that another one is to be a clone of.
  struct CloneOf {
    const Plan& original;
  };
  explicit Plan(CloneOf of) : host_memory_(of.original.host_memory_), device_memory_(of.original.device_memory_) {
    tessera_plan* made = nullptr;
    detail::call(tessera_plan_clone, of.original.get(), &made);
    handle_.reset(made);
  }
  /// tessera_plan_create, or tessera_plan_borrow.
  using Source = decltype(&tessera_plan_create);
  Plan(Source source, const Context* context, const void* desc, const PlanOptions& options) {
    const tessera_plan_options c = detail::c_options(options);
    tessera_plan* made = nullptr;
    detail::call(source, context == nullptr ? nullptr : context->alive(), static_cast<const tessera_desc*>(desc), &c,
                 &made);
    handle_.reset(made);
    const tessera_plan_info known = info();
    host_memory_ = known.host_memory != 0;
    device_memory_ = known.device_memory != 0;
  }

  static std::vector<Offer> offers(const Context& context, const void* desc, const PlanOptions& options) {
    using Offers = detail::Collected<std::vector<Offer>>;
    const auto visit = [](void* data, const tessera_offer* o) {
      Offers::take(data, [o](std::vector<Offer>& offers) {
        offers.push_back({o->algorithm, o->seconds, o->transfer_seconds, o->workspace_bytes});
      });
    };
    Offers offers;
    const tessera_plan_options c = detail::c_options(options);
    detail::call(tessera_visit_offers, context.alive(), static_cast<const tessera_desc*>(desc), &c,
                 static_cast<tessera_offer_visitor>(visit), static_cast<void*>(&offers));
    return offers.get();
  }

  static std::vector<Tried> tune(const Context* context, const void* desc, const PlanOptions& options) {
    using Ways = detail::Collected<std::vector<Tried>>;
    const auto visit = [](void* data, const tessera_tried* t) {
      Ways::take(data, [t](std::vector<Tried>& tried) {
        tried.push_back({t->backend, t->device, t->algorithm, t->predicted_seconds, t->seconds, t->whole_seconds,
                         t->estimated != 0, t->chosen != 0});
      });
    };
    Ways tried;
    const tessera_plan_options c = detail::c_options(options);
    detail::call(tessera_tune, context == nullptr ? nullptr : context->alive(), static_cast<const tessera_desc*>(desc),
                 &c, static_cast<tessera_tried_visitor>(visit), static_cast<void*>(&tried));
    return tried.get();
  }

  void run(const tessera_operand* operands, std::uint64_t operand_count, const tessera_scalar* scalars,
           std::uint64_t scalar_count, std::int64_t first_step = 0) {
    const tessera_execution execution{
        sizeof execution, operands, sizeof *operands, operand_count, scalars, sizeof(tessera_scalar), scalar_count,
        nullptr,          0,        first_step};
    detail::call(tessera_plan_execute, get(), &execution);
  }

  /// A pointer, whose memory nobody knows.
  template <class Pointer>
  static tessera_operand operand(Role role, const Pointer& data) requires std::is_pointer_v<Pointer> {
    using T = std::remove_pointer_t<Pointer>;
    return {const_cast<std::remove_cv_t<T>*>(data), static_cast<tessera_dtype>(kDType<T>), tessera_role(role)};
  }
  /// A contiguous range. Throws unless the plan takes host memory and touches no more than it has.
  template <std::ranges::contiguous_range Range>
  tessera_operand operand(Role role, Range&& range) const {
    if (!host_memory_)
      refuse(role,
             " is a range, which is host memory; this plan takes device operands: pass buffers or their pointers, or "
             "make the plan with PlanOptions::operands = Memory::host");
    check_size(role, std::ranges::size(range));
    return operand(role, std::ranges::data(range));
  }
  /// The same for a buffer, which is memory of the device.
  template <class T>
  tessera_operand operand(Role role, const Buffer<T>& buffer) const {
    if (!device_memory_)
      refuse(role,
             " is a buffer, which is device memory; this plan takes host operands: make the plan with "
             "PlanOptions::operands = Memory::device");
    check_size(role, std::uint64_t(buffer.size()));
    return operand(role, buffer.data());
  }
  template <Element T>
  static tessera_scalar scalar(T value) {
    if constexpr (is_complex(kDType<T>))
      return {static_cast<tessera_dtype>(kDType<T>), 0, double(value.real()), double(value.imag())};
    else
      return {static_cast<tessera_dtype>(kDType<T>), 0, double(value), 0.0};
  }

  bool takes_host_memory() const { return host_memory_; }
  bool takes_device_memory() const { return device_memory_; }

 private:
  bool host_memory_ = true, device_memory_ = false;

  [[noreturn]] static void refuse(Role role, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, name_of(role) + what);
  }
  void check_size(Role role, std::uint64_t size) const {
    const auto [first, last] = operand_range(role);
    if (first < 0) refuse(role, " has a halo before its first point: pass a pointer");
    if (std::uint64_t(last) > size)
      refuse(role, " has " + std::to_string(size) + " elements; the plan needs " + std::to_string(last));
  }

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
