// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/dispatch.hpp"

#include "check.hpp"
#include "dispatch/known_backends.hpp"

#include <algorithm>

namespace tessera::core {
namespace {

/// The variant of the backend `name` that a plan would get where `given` is the choice of backend.
const Backend* in_use(const Registry& registry, const std::string& name, const std::string& given) {
  for (const std::vector<Backend*>& list : {registry.matching(given), registry.backends()})
    for (const Backend* backend : list)
      if (backend->name() == name) return backend;
  return nullptr;
}

void require_variant_in_use(const Registry& registry, const Backend& named, const Request& request,
                            const Backend* context, const std::string& asked) {
  if (request.algorithm.backend == named.name() || request.algorithm.backend != named.full_name()) return;
  const Backend* used = context != nullptr && context->name() == named.name()
                            ? context
                            : in_use(registry, named.name(), request.backend.name);
  if (used != &named)
    throw Error(TESSERA_BACKEND_UNAVAILABLE, asked + "the variant in use is " + used->full_name() +
                                                 "; TESSERA_BACKEND=" + request.algorithm.backend +
                                                 " takes the other, and so does a context of that name");
}

bool usable(Backend& backend, const Request& request) {
  return backend.reason().empty() && request.backend.device < backend.device_count();
}

}  // namespace

std::vector<Dispatched> dispatch_all(const Request& request, const Question& question) {
  const Registry& registry = Registry::instance();
  if (!registry.problem().empty()) throw Error(TESSERA_BACKEND_UNAVAILABLE, registry.problem());
  if (registry.backends().empty())
    throw Error(TESSERA_BACKEND_UNAVAILABLE,
                "no backend plugin was found; " + describe_search() + "; TESSERA_BACKEND_PATH adds directories");
  const std::vector<Backend*> matching = registry.matching(request.backend.name);
  if (!request.backend.name.empty() && matching.size() == 1 && question.desc == nullptr &&
      usable(*matching[0], request))
    return {{matching[0], std::max(request.backend.device, 0)}};  // nothing is to be ranked
  try {
    std::vector<Dispatched> ranked;
    for (const Choice& choice : rank(ask(matching, request, question), request))
      ranked.push_back({matching[choice.candidate], choice.device, choice.seconds});
    return ranked;
  } catch (const Error& error) {
    if (error.status() == TESSERA_OUT_OF_MEMORY) throw;
    // An explicit name loads that backend alone; the message lists them all.
    std::vector<Backend*> all = registry.backends();
    for (Backend* backend : matching)
      if (std::find(all.begin(), all.end(), backend) == all.end()) all.push_back(backend);
    choose(ask(all, request, question), request, describe_search());
    throw;
  }
}

Dispatched dispatch(const Request& request, const Question& question) {
  return dispatch_all(request, question).front();
}

void require_known_algorithm(const Request& request, tessera_op op, const Backend* context) {
  const AlgorithmSpec& algorithm = request.algorithm;
  if (algorithm.backend.empty()) return;
  const Registry& registry = Registry::instance();
  const std::string asked = algorithm.source + " = '" + algorithm.backend + "/" + algorithm.name + "': ";
  const std::vector<Backend*> named = registry.matching(algorithm.backend);
  if (named.empty()) {
    std::vector<std::string> names, leveled;
    for (const Backend* known : registry.backends()) {
      names.push_back(known->full_name());
      if (!known->variant().empty()) leveled.push_back(known->name());
    }
    const std::string unbuilt = not_built(algorithm.backend, leveled);
    throw Error(TESSERA_BACKEND_UNAVAILABLE,
                asked + (unbuilt.empty() ? "there is no backend '" + algorithm.backend + "': " : unbuilt + "; ") +
                    no_plugin(algorithm.backend) + "; there is: " + join(names) + "; " + describe_search());
  }
  require_variant_in_use(registry, *named.front(), request, context, asked);
  std::string lists;
  for (Backend* present : named) {
    if (present->table() == nullptr) continue;  // nobody can know what it has
    const std::vector<std::string>& has = present->algorithms(op);
    if (std::find(has.begin(), has.end(), algorithm.name) != has.end()) return;
    lists += (lists.empty() ? "" : "; ") + present->full_name() + " has " + join(has);
  }
  if (!lists.empty()) throw Error(TESSERA_UNSUPPORTED, asked + "there is no such algorithm; " + lists);
}

void require_runnable(const AlgorithmSpec& algorithm, Backend& backend, int device, const tessera_desc* desc) {
  if (backend.algorithms(desc->op).empty())
    throw Error(TESSERA_UNSUPPORTED, backend.full_name() + " has no algorithm for this operation");
  if (algorithm.name.empty()) return;
  const bool concerned = concerns(algorithm, backend);
  const Candidate candidate{backend.name(),
                            backend.variant(),
                            "",
                            backend.device_count(),
                            0.0,
                            backend.algorithms(desc->op),
                            concerned ? why_not(backend, device, algorithm.name, desc) : ""};
  if (concerned ? !candidate.algorithm_reason.empty() : narrows(algorithm))
    refuse_algorithm({&candidate, 1}, {{}, algorithm});
}

}  // namespace tessera::core
