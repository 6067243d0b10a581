// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/context.hpp"

#include "check.hpp"
#include "dispatch/selection.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::core {
namespace {

constexpr std::int64_t kNoAlgorithm = -2;

/// The variant of the backend `name` that a plan would get where `given` is the choice of backend.
const Backend* in_use(const Registry& registry, const std::string& name, const std::string& given) {
  for (const std::vector<Backend*>& list : {registry.matching(given), registry.backends()})
    for (const Backend* backend : list)
      if (backend->name() == name) return backend;
  return nullptr;
}

std::int64_t index_of(const std::vector<std::string>& algorithms, const std::string& name) {
  const auto found = std::find(algorithms.begin(), algorithms.end(), name);
  return found == algorithms.end() ? kNoAlgorithm : found - algorithms.begin();
}

/// Predicted executions per second into `score`; returns why there is no such figure, or "".
std::string ask_score(const tessera_backend& table, int device, const tessera_desc* desc, tessera_memory memory,
                      std::int64_t algorithm, double& score) {
  const std::string reason = failure_of(
      "score", [&](tessera_error* error) { return table.score(device, desc, memory, algorithm, &score, error); });
  if (reason.empty() && std::isfinite(score)) return "";
  score = 0.0;
  return reason.empty() ? "its score is not a finite number" : "its score failed: " + reason;
}

/// ask_score() for a problem that stands for all where none is at hand.
std::string ask_reference_score(Backend& backend, int device, double& score) {
  constexpr std::int64_t n = 1024;
  const tessera_gemm_desc reference{sizeof reference,
                                    TESSERA_OP_GEMM,
                                    TESSERA_F32,
                                    TESSERA_COMPUTE_STRICT,
                                    TESSERA_ROW_MAJOR,
                                    TESSERA_NO_TRANSPOSE,
                                    TESSERA_NO_TRANSPOSE,
                                    n,
                                    n,
                                    n,
                                    n,
                                    n,
                                    n,
                                    1,
                                    n * n,
                                    n * n,
                                    n * n};
  return ask_score(*backend.table(), device, reinterpret_cast<const tessera_desc*>(&reference), TESSERA_MEMORY_DEVICE,
                   TESSERA_CHOSEN_ALGORITHM, score);
}

Candidate describe(Backend& backend, const ContextRequest& request) {
  Candidate c{backend.name(), backend.variant(), backend.reason(), backend.device_count(), 0.0, {}, ""};
  if (!c.reason.empty()) return c;
  const tessera_backend& table = *backend.table();
  const int device = std::max(request.backend.device, 0);
  if (device >= c.device_count) return c;
  if (request.desc == nullptr) {
    c.score_reason = ask_reference_score(backend, device, c.score);
    return c;
  }
  const tessera_op op = request.desc->op;
  c.algorithms = backend.algorithms(op);
  std::int64_t ranked = TESSERA_CHOSEN_ALGORITHM;
  if (concerns(request.algorithm, c.name, c.variant)) {
    const std::int64_t forced = index_of(c.algorithms, request.algorithm.name);
    c.algorithm_reason = forced == kNoAlgorithm ? "no algorithm '" + request.algorithm.name + "'"
                                                : failure_of("algorithm_supports", [&](tessera_error* error) {
                                                    return table.algorithm_supports(op, std::uint64_t(forced), device,
                                                                                    request.desc, error);
                                                  });
    if (forced != kNoAlgorithm && !c.algorithm_reason.empty())
      c.algorithm_reason = request.algorithm.name + ": " + c.algorithm_reason;
    if (narrows(request.algorithm)) ranked = forced;
  }
  if (ranked != kNoAlgorithm)
    c.score_reason = ask_score(table, device, request.desc, request.operands, ranked, c.score);
  return c;
}

std::vector<Candidate> describe(const std::vector<Backend*>& backends, const ContextRequest& request) {
  std::vector<Candidate> candidates;
  for (Backend* backend : backends) candidates.push_back(describe(*backend, request));
  return candidates;
}

}  // namespace

double reference_score(Backend& backend, int device) {
  double score = 0.0;
  ask_reference_score(backend, device, score);
  return score;
}

std::shared_ptr<Context> make_context(const ContextRequest& request) {
  const Registry& registry = Registry::instance();
  if (!registry.problem().empty()) throw Error(TESSERA_BACKEND_UNAVAILABLE, registry.problem());
  if (registry.backends().empty())
    throw Error(TESSERA_BACKEND_UNAVAILABLE,
                "no backend plugin was found; " + describe_search() + "; TESSERA_BACKEND_PATH adds directories");
  const std::vector<Backend*> matching = registry.matching(request.backend.name);
  Request selection{request.backend, request.algorithm};
  if (request.desc == nullptr) selection.algorithm.name.clear();
  Choice choice{};
  try {
    choice = choose(describe(matching, request), selection);
  } catch (const Error& error) {
    if (error.status() == TESSERA_OUT_OF_MEMORY) throw;
    // An explicit name loads that backend alone; the message lists them all.
    std::vector<Backend*> all = registry.backends();
    for (Backend* backend : matching)
      if (std::find(all.begin(), all.end(), backend) == all.end()) all.push_back(backend);
    choose(describe(all, request), selection);
    throw;
  }
  return std::make_shared<Context>(*matching[choice.candidate], choice.device, request.native_stream,
                                   request.wrap_stream, request.threads);
}

void check_algorithm_known(const AlgorithmSpec& algorithm, tessera_op op, const BackendSpec& backend,
                           const Context* context) {
  if (algorithm.backend.empty()) return;
  const Registry& registry = Registry::instance();
  const std::string asked = algorithm.source + " = '" + algorithm.backend + "/" + algorithm.name + "': ";
  const std::vector<Backend*> named = registry.matching(algorithm.backend);
  if (named.empty()) {
    std::string names;
    for (const Backend* known : registry.backends()) names += (names.empty() ? "" : ", ") + known->name();
    throw Error(TESSERA_BACKEND_UNAVAILABLE,
                asked + "there is no backend '" + algorithm.backend + "'; there is: " + names);
  }
  const Backend* used = named.front();
  if (algorithm.backend != used->name() && algorithm.backend == used->full_name()) {  // a variant is named
    if (context != nullptr && context->backend().name() == used->name())
      used = &context->backend();
    else
      used = in_use(registry, used->name(), backend.name);
    if (used != named.front())
      throw Error(TESSERA_BACKEND_UNAVAILABLE, asked + "the variant in use is " + used->full_name() +
                                                   "; TESSERA_BACKEND=" + algorithm.backend + " takes the other");
  }
  std::string lists;
  for (Backend* present : named) {
    if (present->table() == nullptr) continue;  // nobody can know what it has
    const std::vector<std::string>& has = present->algorithms(op);
    if (index_of(has, algorithm.name) != kNoAlgorithm) return;
    lists += (lists.empty() ? "" : "; ") + present->full_name() + " has " + join(has);
  }
  if (!lists.empty()) throw Error(TESSERA_UNSUPPORTED, asked + "there is no such algorithm; " + lists);
}

void check_algorithm(const AlgorithmSpec& algorithm, Context& context, const tessera_desc* desc) {
  ContextRequest request;
  request.algorithm = algorithm;
  request.desc = desc;
  request.backend = {"context", context.name(), context.device()};
  const Candidate candidate = describe(context.backend(), request);
  choose({&candidate, 1}, {request.backend, algorithm});
}

Context::Context(Backend& backend, int device, void* native_stream, bool wrap_stream, int threads)
    : backend_(backend), table_(*backend.table()), name_(backend.full_name()), device_(device) {
  const tessera_backend_context_desc desc{sizeof desc, native_stream, wrap_stream, device, threads};
  call(table_.context_create, &desc, &handle_);
}

Context::~Context() {
  if (handle_ != nullptr) table_.context_destroy(handle_);
}

void Context::settle() noexcept {
  if (!dead_.load(std::memory_order_acquire)) table_.synchronize(handle_, nullptr);
}

void* Context::native_stream() {
  constexpr std::size_t end = offsetof(tessera_backend, native_stream) + sizeof(tessera_backend::native_stream);
  if (table_.struct_size < end || table_.native_stream == nullptr)
    throw Error(TESSERA_UNSUPPORTED, backend_.name() + " has no native stream");
  void* stream = nullptr;
  call(table_.native_stream, handle_, &stream);
  return stream;
}

void Context::fail(tessera_status status, const tessera_error& error, const char* message) {
  if ((error.flags & TESSERA_ERROR_CONTEXT_DEAD) != 0) {
    const std::lock_guard lock(death_mutex_);
    // Dead first: there may be no memory for the cause.
    if (!dead_.exchange(true)) cause_of_death_ = message;
  }
  throw Error(status, message[0] == '\0' ? backend_.name() + " gave no reason" : message, error.flags);
}

void Context::throw_dead() {
  const std::lock_guard lock(death_mutex_);
  throw Error(TESSERA_DEVICE_ERROR,
              "this context of " + name_ + ":" + std::to_string(device_) +
                  " can do no more work, destroy what belongs to it; it died of: " + cause_of_death_,
              TESSERA_ERROR_CONTEXT_DEAD);
}

DeviceMemory::DeviceMemory(std::shared_ptr<Context> context, std::int64_t bytes)
    : context_(std::move(context)), bytes_(bytes) {
  at_least("bytes", bytes, 0);
  context_->call(context_->table().buffer_allocate, context_->handle(), std::uint64_t(bytes), &data_);
}

DeviceMemory::~DeviceMemory() {
  context_->settle();
  context_->table().buffer_free(context_->handle(), data_);
}

void DeviceMemory::check(std::int64_t offset, const void* host, std::int64_t bytes) const {
  if (offset < 0 || bytes < 0 || offset > bytes_ || bytes > bytes_ - offset)
    invalid("offset_bytes", std::to_string(offset) + " with bytes = " + std::to_string(bytes),
            "must lie inside the buffer of " + std::to_string(bytes_) + " bytes");
  if (host == nullptr && bytes > 0)
    invalid("host pointer", "null", "must point to " + std::to_string(bytes) + " bytes");
}

void DeviceMemory::upload(std::int64_t offset, const void* source, std::int64_t bytes) {
  check(offset, source, bytes);
  const tessera_copy copy{
      sizeof copy, TESSERA_COPY_TO_DEVICE, 1, 1, static_cast<char*>(data_) + offset, source, {bytes}, {1}, {1}};
  if (bytes > 0) context_->call(context_->table().copy, context_->handle(), &copy);
}

void DeviceMemory::download(std::int64_t offset, void* target, std::int64_t bytes) const {
  check(offset, target, bytes);
  const tessera_copy copy{
      sizeof copy, TESSERA_COPY_TO_HOST, 1, 1, target, static_cast<const char*>(data_) + offset, {bytes}, {1}, {1}};
  if (bytes > 0) context_->call(context_->table().copy, context_->handle(), &copy);
}

}  // namespace tessera::core
