// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The objects of tessera/tessera.h with owners, and calls that throw what they report.
#pragma once

#include "check.hpp"

#include <tessera/tessera.h>
#include <tessera/plugin/error.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

namespace tessera::distributed {

using plugin::Error;

/// Calls a C function with an error to fill and throws what it reports.
template <class Function, class... Arguments>
void call(Function function, Arguments... arguments) {
  std::array<char, 4096> message;
  message[0] = '\0';
  tessera_error error{sizeof error, TESSERA_OK, 0, message.data(), message.size()};
  const tessera_status status = function(arguments..., &error);
  if (status != TESSERA_OK) throw Error(status, message.data());
}

template <class T, void (*kDestroy)(T*)>
struct Destroy {
  void operator()(T* object) const { kDestroy(object); }
};
using ContextHandle = std::unique_ptr<tessera_context, Destroy<tessera_context, tessera_context_destroy>>;
using BufferHandle = std::unique_ptr<tessera_buffer, Destroy<tessera_buffer, tessera_buffer_destroy>>;
using PlanHandle = std::unique_ptr<tessera_plan, Destroy<tessera_plan, tessera_plan_destroy>>;

inline PlanHandle make_plan(tessera_context* context, const void* desc, const tessera_plan_options& options) {
  tessera_plan* plan = nullptr;
  call(tessera_plan_create, context, static_cast<const tessera_desc*>(desc), &options, &plan);
  return PlanHandle(plan);
}
/// Predicted of the fastest plan; endless where none is offered.
inline double least_seconds(tessera_context* context, const void* desc, const tessera_plan_options& options) {
  double least = std::numeric_limits<double>::infinity();
  const auto visit = [](void* data, const tessera_offer* offer) {
    double& seconds = *static_cast<double*>(data);
    seconds = offer->seconds < seconds ? offer->seconds : seconds;
  };
  call(tessera_visit_offers, context, static_cast<const tessera_desc*>(desc), &options,
       static_cast<tessera_offer_visitor>(visit), static_cast<void*>(&least));
  return least;
}
inline tessera_plan_info info_of(const tessera_plan* plan) {
  tessera_plan_info info{};
  info.struct_size = sizeof info;
  call(tessera_get_plan_info, plan, &info);
  return info;
}
inline BufferHandle make_buffer(tessera_context* context, std::int64_t bytes) {
  tessera_buffer* buffer = nullptr;
  call(tessera_buffer_create, context, bytes, &buffer);
  return BufferHandle(buffer);
}
/// Copies bytes between the host and the context's device; complete on return.
inline void copy_bytes(tessera_context* context, void* target, const void* source, std::int64_t bytes, int direction) {
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = direction, copy.rank = 1, copy.element_size = 1;
  copy.target = target, copy.source = source;
  copy.extents[0] = bytes, copy.target_strides[0] = copy.source_strides[0] = 1;
  call(tessera_context_copy, context, &copy);
}
/// So many bytes behind an array's begin.
inline void* at(const void* array, std::int64_t bytes) {
  return static_cast<unsigned char*>(const_cast<void*>(array)) + bytes;
}
/// Another handle of the same context.
inline ContextHandle share(const tessera_context* context) {
  tessera_context* same = nullptr;
  call(tessera_context_share, context, &same);
  return ContextHandle(same);
}
/// A hold on the context that a plan of ranks is made with, which brings no workspace.
inline ContextHandle taken(const tessera_context* context, const tessera_plan_options& options) {
  if (context == nullptr) core::invalid("context", "null", "must be an object that was created");
  if (options.workspace != nullptr) core::invalid("workspace", "not null", "must be null: each rank has several plans");
  if (options.prepared != nullptr)
    core::invalid("prepared", "not null", "must be null: ranks take shares of B as it lies");
  return share(context);
}
/// Another context, with a stream of its own that goes first, on the same device.
inline ContextHandle beside(const tessera_context* context) {
  const std::string name =
      std::string(tessera_context_backend(context)) + ":" + std::to_string(tessera_context_device(context));
  tessera_context_options options{};
  options.struct_size = sizeof options;
  options.backend = name.c_str();
  options.high_priority = 1;
  tessera_context* made = nullptr;
  call(tessera_context_create, &options, &made);
  return ContextHandle(made);
}

}  // namespace tessera::distributed
