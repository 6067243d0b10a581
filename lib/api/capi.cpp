// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The C functions of tessera/tessera.h: each turns its arguments into a call of the core, and what the core throws
/// into a status.

#include <tessera/tessera.h>

#include "api/arguments.hpp"
#include "check.hpp"
#include "dispatch/dispatch.hpp"
#include "dispatch/environment.hpp"
#include "plan/backend_plan.hpp"
#include "plan/context.hpp"
#include "plan/make_plan.hpp"
#include "plan/plan.hpp"
#include "plan/plan_cache.hpp"
#include "plan/prepared.hpp"
#include "plan/small_product.hpp"
#include "plan/verbose.hpp"

#include <tessera/plugin/structs.hpp>

using namespace tessera;
using api::existing;
using api::guard;
using plugin::read_struct;
using plugin::view_struct;
using plugin::write_struct;

struct tessera_context {
  std::shared_ptr<core::Context> context;
};
struct tessera_buffer {
  core::DeviceMemory memory;
};
struct tessera_prepared {
  std::shared_ptr<const core::Prepared> operand;
};

namespace {

[[noreturn]] void refuse_workspace() {
  core::invalid("workspace", "not null", "must be null: a plan's workspace is given when the plan is made");
}

}  // namespace

#define TESSERA_STRING_(x) #x
#define TESSERA_STRING(x) TESSERA_STRING_(x)

const char* tessera_version(void) {
  return TESSERA_STRING(TESSERA_VERSION_MAJOR) "." TESSERA_STRING(TESSERA_VERSION_MINOR) "." TESSERA_STRING(
      TESSERA_VERSION_PATCH);
}

// ---- Context

tessera_status tessera_context_create(const tessera_context_options* options, tessera_context** context,
                                      tessera_error* error) {
  return guard(error, [&] {
    existing(context, "context");
    const auto o = options == nullptr ? tessera_context_options{}
                                      : read_struct<tessera_context_options>(options, "the context options");
    const core::Request request{
        o.backend == nullptr ? core::environment_backend() : core::parse_backend(o.backend, "backend"), {}};
    if (o.native_stream != nullptr && o.wrap_stream == 0)
      core::invalid("native_stream", "not null", "must be null unless wrap_stream is set");
    core::at_least("threads", o.threads, 0);
    core::Question question;
    question.threads = o.threads != 0 ? o.threads : core::environment_threads();
    const core::Dispatched place = core::dispatch(request, question);
    *context = new tessera_context{std::make_shared<core::Context>(
        *place.backend, place.device, o.native_stream, o.wrap_stream != 0, question.threads, o.high_priority != 0)};
  });
}

tessera_status tessera_context_share(const tessera_context* context, tessera_context** same, tessera_error* error) {
  return guard(error, [&] {
    existing(same, "same");
    *same = new tessera_context{existing(context, "context").context};
  });
}

void tessera_context_destroy(tessera_context* context) {
  core::PlanCache* const cache = core::PlanCache::if_used();
  if (cache != nullptr && context != nullptr) cache->drop(*context->context);
  delete context;
}

tessera_status tessera_context_synchronize(tessera_context* context, tessera_error* error) {
  return guard(error, [&] { existing(context, "context").context->synchronize(); });
}

const char* tessera_context_backend(const tessera_context* context) {
  return context == nullptr ? nullptr : context->context->name().c_str();
}

int32_t tessera_context_device(const tessera_context* context) {
  return context == nullptr ? -1 : context->context->device();
}

tessera_status tessera_context_native_stream(tessera_context* context, void** stream, tessera_error* error) {
  return guard(error, [&] { existing(stream, "stream") = existing(context, "context").context->native_stream(); });
}

tessera_status tessera_context_wait_for(tessera_context* context, tessera_context* earlier, tessera_error* error) {
  return guard(error, [&] { existing(context, "context").context->wait_for(*existing(earlier, "earlier").context); });
}

tessera_status tessera_context_copy(tessera_context* context, const tessera_copy* copy, tessera_error* error) {
  return guard(error, [&] {
    core::Context& c = *existing(context, "context").context;
    const auto known = read_struct<tessera_copy>(copy, "the copy");
    if (!api::check_copy(known)) return;
    c.call(c.table().copy, c.handle(), &known);
  });
}

// ---- Buffer

tessera_status tessera_buffer_create(tessera_context* context, int64_t bytes, tessera_buffer** buffer,
                                     tessera_error* error) {
  return guard(error, [&] {
    existing(buffer, "buffer") = new tessera_buffer{{existing(context, "context").context, bytes}};
  });
}

void tessera_buffer_destroy(tessera_buffer* buffer) { delete buffer; }

void* tessera_buffer_data(const tessera_buffer* buffer) { return buffer == nullptr ? nullptr : buffer->memory.data(); }

tessera_status tessera_buffer_upload(tessera_buffer* buffer, int64_t offset_bytes, const void* source, int64_t bytes,
                                     tessera_error* error) {
  return guard(error, [&] { existing(buffer, "buffer").memory.upload(offset_bytes, source, bytes); });
}

tessera_status tessera_buffer_download(const tessera_buffer* buffer, int64_t offset_bytes, void* target, int64_t bytes,
                                       tessera_error* error) {
  return guard(error, [&] { existing(buffer, "buffer").memory.download(offset_bytes, target, bytes); });
}

// ---- Plan

namespace {

core::PlanOptions plan_options(const tessera_plan_options* options) {
  const auto o =
      options == nullptr ? tessera_plan_options{} : read_struct<tessera_plan_options>(options, "the plan options");
  core::one_of("effort", o.effort, TESSERA_EFFORT_DEFAULT, TESSERA_EFFORT_MEASURE,
               "default (0), estimate (1), measure (2)");
  if (o.workspace == nullptr && o.workspace_bytes != 0)
    core::invalid("workspace_bytes", std::to_string(o.workspace_bytes), "must be 0 where workspace is null");
  core::at_least("sm_limit", o.sm_limit, 0, " multiprocessors; 0 means all");
  core::one_of("reserved", o.reserved, 0, 0, "0");
  core::PlanOptions taken{o.operands,        o.effort,    o.algorithm == nullptr ? "" : o.algorithm,
                          o.workspace_limit, o.workspace, o.workspace_bytes,
                          o.sm_limit,        nullptr};
  if (o.prepared != nullptr) taken.prepared = o.prepared->operand;
  return taken;
}

std::shared_ptr<core::Context> shared(const tessera_context* context) {
  return context == nullptr ? nullptr : context->context;
}

tessera_plan* own(std::shared_ptr<core::Plan> plan) { return new tessera_plan{std::move(plan)}; }

}  // namespace

tessera_status tessera_plan_create(tessera_context* context, const tessera_desc* desc,
                                   const tessera_plan_options* options, tessera_plan** plan, tessera_error* error) {
  return guard(error, [&] {
    existing(plan, "plan");
    *plan = own(core::make_plan(shared(context), desc, plan_options(options)));
  });
}

tessera_status tessera_visit_offers(tessera_context* context, const tessera_desc* desc,
                                    const tessera_plan_options* options, tessera_offer_visitor visit, void* data,
                                    tessera_error* error) {
  return guard(error, [&] {
    if (visit == nullptr) core::invalid("visit", "null", "must be a function");
    core::visit_offers(*existing(context, "context").context, desc, plan_options(options), visit, data);
  });
}

tessera_status tessera_tune(tessera_context* context, const tessera_desc* desc, const tessera_plan_options* options,
                            tessera_tried_visitor visit, void* data, tessera_error* error) {
  return guard(error, [&] {
    for (const core::Tried& t : core::tune(shared(context), desc, plan_options(options))) {
      const tessera_tried tried{sizeof tried,
                                t.backend.c_str(),
                                t.algorithm.c_str(),
                                t.predicted_seconds,
                                t.seconds,
                                t.whole_seconds,
                                t.device,
                                t.estimated,
                                t.chosen,
                                0};
      if (visit != nullptr) visit(data, &tried);
    }
  });
}

tessera_status tessera_prepare(tessera_context* context, const tessera_gemm_desc* desc,
                               const tessera_plan_options* options, const void* b, uint64_t elements,
                               tessera_prepared** prepared, tessera_error* error) {
  return guard(error, [&] {
    existing(prepared, "prepared");
    const core::PlanOptions o = plan_options(options);
    if (o.prepared != nullptr) core::invalid("prepared", "not null", "must be null where an operand is prepared");
    *prepared = new tessera_prepared{
        core::prepare(shared(context), reinterpret_cast<const tessera_desc*>(desc), o, {b, elements})};
  });
}

void tessera_prepared_destroy(tessera_prepared* prepared) {
  core::PlanCache* const cache = core::PlanCache::if_used();
  if (cache != nullptr && prepared != nullptr) cache->drop(*prepared->operand);
  delete prepared;
}

tessera_status tessera_get_prepared_info(const tessera_prepared* prepared, tessera_prepared_info* info,
                                         tessera_error* error) {
  return guard(error, [&] {
    const core::Prepared& p = *existing(prepared, "prepared").operand;
    write_struct({sizeof *info, p.context()->name().c_str(), p.form().c_str(), p.description().c_str(), p.bytes(),
                  p.context()->device(), 0},
                 info, "info");
  });
}

tessera_status tessera_plan_clone(const tessera_plan* plan, tessera_plan** clone, tessera_error* error) {
  return guard(error, [&] {
    existing(clone, "clone");
    *clone = own(std::make_shared<core::Plan>(*existing(plan, "plan").plan));
  });
}

void tessera_plan_destroy(tessera_plan* plan) {
  if (plan != nullptr && plan->home != nullptr)
    core::PlanCache::instance().give_back(plan);
  else
    delete plan;
}

tessera_status tessera_plan_execute(tessera_plan* plan, const tessera_execution* execution, tessera_error* error) {
  return guard(error, [&] {
    tessera_execution room;
    const tessera_execution& e = view_struct(execution, room, "the execution");
    if (e.workspace != nullptr || e.workspace_bytes != 0) refuse_workspace();
    existing(plan, "plan").plan->execute(e);
  });
}

tessera_status tessera_get_plan_info(const tessera_plan* plan, tessera_plan_info* info, tessera_error* error) {
  return guard(error, [&] {
    const core::Plan& p = *existing(plan, "plan").plan;
    const bool on_host = p.context().on_host();
    write_struct({sizeof *info, p.backend_name().c_str(), p.algorithm().c_str(), p.description().c_str(),
                  p.workspace_bytes(), p.context().device(), p.operands(),
                  p.operands() == TESSERA_MEMORY_HOST || on_host, p.operands() == TESSERA_MEMORY_DEVICE || on_host},
                 info, "info");
  });
}

tessera_status tessera_plan_operand_range(const tessera_plan* plan, tessera_role role, int64_t* first, int64_t* last,
                                          tessera_error* error) {
  return guard(error, [&] {
    const core::Plan& p = *existing(plan, "plan").plan;
    const core::Layout& layout = p.operand_with(role).layout;
    const bool none = layout.empty() || (p.problem().prepared && role == TESSERA_ROLE_B);
    existing(first, "first") = none ? 0 : layout.origin();
    existing(last, "last") = none ? 0 : layout.origin() + layout.reach() + 1;
  });
}

tessera_status tessera_plan_level_after(const tessera_plan* plan, int32_t field, int32_t level, tessera_role* role,
                                        tessera_error* error) {
  return guard(error, [&] { existing(role, "role") = existing(plan, "plan").plan->level_after(field, level); });
}

// ---- The plan cache, and one-call forms

namespace {

/// A plan of the cache while it lives.
class Loan {
 public:
  Loan(tessera_context* context, const void* desc)
      : plan_(core::PlanCache::instance().borrow(shared(context), static_cast<const tessera_desc*>(desc), {})) {}
  ~Loan() { core::PlanCache::instance().give_back(plan_); }
  Loan(const Loan&) = delete;
  core::Plan& operator*() const { return *plan_->plan; }

 private:
  tessera_plan* plan_;
};

tessera_scalar scalar_of(tessera_dtype dtype, double value) {
  return with_types<WideTypes>(dtype, [&]<class T>(std::type_identity<T>) {
    return tessera_scalar{dtype, 0, double(T(value)), 0.0};
  });
}

/// Operands that are only read are not written through the pointer.
tessera_operand operand_of(const core::Plan& plan, tessera_role role, const void* data) {
  return {const_cast<void*>(data), plan.operand_with(role).dtype, role};
}

}  // namespace

tessera_status tessera_plan_borrow(tessera_context* context, const tessera_desc* desc,
                                   const tessera_plan_options* options, tessera_plan** plan, tessera_error* error) {
  return guard(error, [&] {
    existing(plan, "plan");
    *plan = core::PlanCache::instance().borrow(shared(context), desc, plan_options(options));
  });
}

tessera_status tessera_gemm(tessera_context* context, const tessera_gemm_desc* desc, double alpha, const void* a,
                            const void* b, double beta, void* c, tessera_error* error) {
  return guard(error, [&] {
    if (tessera_small_gemm(context, desc, alpha, a, b, beta, c, nullptr) != 0) return;
    const Loan plan(context, desc);
    const tessera_operand operands[] = {operand_of(*plan, TESSERA_ROLE_A, a), operand_of(*plan, TESSERA_ROLE_B, b),
                                        operand_of(*plan, TESSERA_ROLE_C, c)};
    const tessera_dtype type = (*plan).problem().scalar_dtype;
    const tessera_scalar scalars[] = {scalar_of(type, alpha), scalar_of(type, beta)};
    (*plan).execute(
        {sizeof(tessera_execution), operands, sizeof *operands, 3, scalars, sizeof *scalars, 2, nullptr, 0, 0});
  });
}

int32_t tessera_small_gemm(tessera_context* context, const tessera_gemm_desc* desc, double alpha, const void* a,
                           const void* b, double beta, void* c, const uint64_t elements[3]) {
  bool done = false;
  guard(nullptr, [&] {
    const core::Context* const known = context == nullptr ? nullptr : context->context.get();
    done = desc != nullptr && core::multiply_small(known, *desc, alpha, a, b, beta, c, elements);
  });
  return done;
}

tessera_status tessera_stencil(tessera_context* context, const tessera_stencil_desc* desc, const void* in, void* out,
                               tessera_error* error) {
  return guard(error, [&] {
    const Loan plan(context, desc);
    const tessera_operand operands[] = {operand_of(*plan, TESSERA_ROLE_IN, in),
                                        operand_of(*plan, TESSERA_ROLE_OUT, out)};
    (*plan).execute({sizeof(tessera_execution), operands, sizeof *operands, 2, nullptr, 0, 0, nullptr, 0, 0});
  });
}

tessera_status tessera_plan_cache_limit(int64_t plans, int64_t bytes, tessera_error* error) {
  return guard(error, [&] {
    core::at_least("plans", plans, 0);
    core::at_least("bytes", bytes, 0);
    core::PlanCache::instance().limit({plans, std::uint64_t(bytes)});
  });
}

tessera_status tessera_plan_cache_clear(tessera_error* error) {
  return guard(error, [] { core::PlanCache::instance().clear(); });
}

tessera_status tessera_get_plan_cache_info(tessera_plan_cache_info* info, tessera_error* error) {
  return guard(error, [&] {
    const core::PlanCache::State s = core::PlanCache::instance().state();
    write_struct({sizeof *info, s.idle, s.lent, s.bytes, s.limits.plans, s.limits.bytes, s.found, s.made}, info,
                 "info");
  });
}

// ---- The environment, and what is said

tessera_status tessera_reload_environment(tessera_error* error) {
  return guard(error, [] {
    core::reload_environment();
    core::forget_small_gemm();
    if (core::PlanCache* const cache = core::PlanCache::if_used()) cache->clear();  // what they made others choose
  });
}

void tessera_set_verbose_callback(void (*callback)(const char* line, void* user), void* user) {
  core::set_verbose_callback(callback, user);
}
