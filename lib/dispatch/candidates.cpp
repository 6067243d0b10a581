// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/candidates.hpp"

#include "check.hpp"
#include "dispatch/examine.hpp"

#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>

namespace tessera::core {
namespace {

bool has(const std::vector<std::string>& algorithms, const std::string& name) {
  return std::find(algorithms.begin(), algorithms.end(), name) != algorithms.end();
}

/// Takes the first offer that a plugin shows: the cheapest.
struct Cheapest {
  bool seen = false;
  double seconds = 0.0;

  static void visit(void* data, const tessera_offer* offer) {
    auto& self = *static_cast<Cheapest*>(data);
    if (self.seen || offer == nullptr) return;
    self.seen = true;
    self.seconds = offer->seconds + offer->transfer_seconds;
  }
};

/// Predicted executions a second by the cheapest offer into `score`; returns why there is none, or "".
std::string ask_score(const tessera_backend& table, const tessera_offers_request& request, double& score) {
  score = 0.0;
  Cheapest cheapest;
  const std::string reason = failure_of("plan_offers", [&](tessera_error* error) {
    return table.plan_offers(&request, Cheapest::visit, &cheapest, error);
  });
  if (!reason.empty()) return reason;
  if (!cheapest.seen) return "it offers nothing";
  if (!std::isfinite(cheapest.seconds) || cheapest.seconds <= 0.0)
    return "the time that it offers is not a positive number";
  score = 1.0 / cheapest.seconds;
  return "";
}

tessera_offers_request offers_request(const tessera_desc* desc, int device) {
  tessera_offers_request request{};
  request.struct_size = sizeof request;
  request.desc = desc;
  request.most = 1;
  request.device = device;
  return request;
}

std::string ask_reference_score(Backend& backend, int device, int threads, double& score) {
  constexpr std::int64_t n = 1024;
  tessera_gemm_desc product = tessera_packed_gemm(TESSERA_F32, n, n, n);
  product.dtype_d = product.dtype, product.compute = TESSERA_COMPUTE_STRICT;
  product.lda = product.ldb = product.ldc = product.ldd = n;
  product.stride_a = product.stride_b = product.stride_c = product.stride_d = n * n;
  tessera_offers_request request = offers_request(reinterpret_cast<const tessera_desc*>(&product), device);
  request.memory = TESSERA_MEMORY_DEVICE;
  request.workspace_limit = TESSERA_DEFAULT_WORKSPACE_LIMIT;
  request.threads = threads;
  return ask_score(*backend.table(), request, score);
}

}  // namespace

std::string why_not(Backend& backend, int device, const std::string& algorithm, const tessera_desc* desc) {
  const std::vector<std::string>& names = backend.algorithms(desc->op);
  const auto found = std::find(names.begin(), names.end(), algorithm);
  if (found == names.end()) return "no algorithm '" + algorithm + "'";
  return failure_of("algorithm_supports", [&](tessera_error* error) {
    return backend.table()->algorithm_supports(desc->op, std::uint64_t(found - names.begin()), device, desc, error);
  });
}

Candidate ask(Backend& backend, const Request& request, const Question& question) {
  Candidate c{backend.name(), backend.variant(), backend.reason(), backend.device_count(), 0.0, {}, ""};
  for (const DeviceDescription& known : backend.devices()) c.devices.push_back(known.name);
  const int device = std::max(request.backend.device, 0);
  if (!c.reason.empty() || device >= c.device_count) return c;
  if (question.desc == nullptr) {
    c.score_reason = ask_reference_score(backend, device, question.threads, c.score);
    return c;
  }
  c.algorithms = backend.algorithms(question.desc->op);
  tessera_offers_request offers = offers_request(question.desc, device);
  offers.memory = question.operands;
  offers.workspace_limit = question.workspace_limit;
  offers.multiprocessors = question.multiprocessors;
  offers.threads = question.threads;
  if (concerns(request.algorithm, c.name, c.variant)) {
    const std::string& forced = request.algorithm.name;
    c.algorithm_reason = why_not(backend, device, forced, question.desc);
    if (narrows(request.algorithm)) {
      if (!has(c.algorithms, forced)) return c;
      offers.algorithm = forced.c_str();
    }
  }
  c.score_reason = ask_score(*backend.table(), offers, c.score);
  return c;
}

std::vector<Candidate> ask(const std::vector<Backend*>& backends, const Request& request, const Question& question) {
  std::vector<Candidate> candidates;
  for (Backend* backend : backends) candidates.push_back(ask(*backend, request, question));
  return candidates;
}

double reference_score(Backend& backend, int device) {
  double score = 0.0;
  ask_reference_score(backend, device, 0, score);
  return score;
}

}  // namespace tessera::core
