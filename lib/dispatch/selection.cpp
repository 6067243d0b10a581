// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/selection.hpp"

#include "check.hpp"
#include "dispatch/known_backends.hpp"
#include "dispatch/registry.hpp"

#include <algorithm>

namespace tessera::core {
namespace {

std::string full_name(const Candidate& c) { return c.variant.empty() ? c.name : c.name + "-" + c.variant; }

std::string state(const Candidate& c) {
  if (!c.reason.empty()) return c.reason;
  return c.score_reason.empty() ? "usable" : c.score_reason;
}

/// "there is: cpu-v4 (usable), cuda (no CUDA device)".
std::string list_backends(std::span<const Candidate> candidates) {
  std::string text;
  for (const Candidate& c : candidates) text += (text.empty() ? "" : ", ") + full_name(c) + " (" + state(c) + ")";
  return text.empty() ? "no backend plugin was found; TESSERA_BACKEND_PATH adds directories to search"
                      : "there is: " + text;
}

/// "; there is: cpu-v4 (usable)", without those that a name means: their reasons were given. "" where no other is.
std::string list_others(std::span<const Candidate> candidates, const std::string& name) {
  std::vector<Candidate> others;
  for (const Candidate& c : candidates)
    if (!matches(name, c.name, c.variant)) others.push_back(c);
  return others.empty() ? "" : "; " + list_backends(others);
}

/// " (no CUDA device)": why those that a name means are not usable. First in a message that may be cut.
std::string reasons(std::span<const Candidate> candidates, const std::string& name) {
  std::string text;
  for (const Candidate& c : candidates)
    if (matches(name, c.name, c.variant)) text += (text.empty() ? "" : "; ") + c.reason;
  return " (" + text + ")";
}

/// "cpu-v4 has packed, direct; cuda is not usable here (no CUDA device)". Of those that have `refused` the others.
std::string list_algorithms(std::span<const Candidate> candidates, const std::string& refused) {
  std::string text;
  for (const Candidate& c : candidates) {
    text += (text.empty() ? "" : "; ") + full_name(c);
    if (!c.reason.empty()) {
      text += " is not usable here (" + c.reason + ")";
      continue;
    }
    std::vector<std::string> names = c.algorithms;
    const bool other = !c.algorithm_reason.empty() && std::erase(names, refused) > 0;
    text += names.empty() ? (other ? " has no other" : " has none") : (other ? " also has " : " has ") + join(names);
  }
  return text;
}

/// "cpu-v4 refuses it: k is too large; cuda has no such algorithm": why none of those that may run a plan runs it.
std::string refusals(std::span<const Candidate> candidates, const Request& request) {
  std::string text;
  for (const Candidate& c : candidates) {
    const bool may_run = request.backend.name.empty() || matches(request.backend.name, c.name, c.variant);
    if (!may_run || !c.reason.empty() || !concerns(request.algorithm, c.name, c.variant)) continue;
    text += (text.empty() ? "" : "; ") + full_name(c);
    const bool has = std::find(c.algorithms.begin(), c.algorithms.end(), request.algorithm.name) != c.algorithms.end();
    text += has ? " refuses it: " + c.algorithm_reason : " has no such algorithm";
  }
  return text.empty() ? "no backend that is usable here has it" : text;
}

/// "cpu-v4 has 1 device: 0 (Intel Xeon)".
std::string list_devices(std::span<const Candidate> candidates, const std::string& name) {
  std::string text;
  for (const Candidate& c : candidates) {
    if (!c.reason.empty() || !matches(name, c.name, c.variant)) continue;
    std::vector<std::string> devices;
    for (int i = 0; i < c.device_count; ++i)
      devices.push_back(std::to_string(i) +
                        (std::size_t(i) < c.devices.size() ? " (" + c.devices[std::size_t(i)] + ")" : ""));
    text += (text.empty() ? "" : "; ") + full_name(c) + " has " + std::to_string(c.device_count) +
            (c.device_count == 1 ? " device: " : " devices: ") + join(devices);
  }
  return text;
}

/// "; did you mean 'cpu'? " where the name is one of those in other cases of letters, else ": ".
std::string meant(std::span<const Candidate> candidates, std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  const bool known = name == "auto" ||
                     std::any_of(candidates.begin(), candidates.end(),
                                 [&](const Candidate& c) { return matches(name, c.name, c.variant); }) ||
                     !not_built(name, {}).empty();
  return known ? "; did you mean '" + name + "'? " : ": ";
}

/// That there is no plugin of that name; of a backend of Tessera's, that it was not built.
std::string absence(std::span<const Candidate> candidates, const std::string& name) {
  std::vector<std::string> leveled;
  for (const Candidate& c : candidates)
    if (!c.variant.empty()) leveled.push_back(c.name);
  const std::string unbuilt = not_built(name, leveled);
  return (unbuilt.empty() ? "there is no such backend" + meant(candidates, name) : unbuilt + "; ") + no_plugin(name);
}

std::string quote(const std::string& source, const std::string& value) { return source + " = '" + value + "'"; }

}  // namespace

bool concerns(const AlgorithmSpec& algorithm, const std::string& name, const std::string& variant) {
  return !algorithm.name.empty() && (algorithm.backend.empty() || matches(algorithm.backend, name, variant));
}

bool narrows(const AlgorithmSpec& algorithm) {
  return !algorithm.name.empty() && (algorithm.from_code || algorithm.backend.empty());
}

void refuse_algorithm(std::span<const Candidate> candidates, const Request& request) {
  const AlgorithmSpec& algorithm = request.algorithm;
  const std::string& own = algorithm.backend;
  const std::string asked = quote(algorithm.source, (own.empty() ? "" : own + "/") + algorithm.name) + ": ";
  bool named = false, usable = false, allowed = false;
  std::vector<std::string> others;
  for (const Candidate& c : candidates) {
    const bool may_run = request.backend.name.empty() || matches(request.backend.name, c.name, c.variant);
    const bool concerned = concerns(algorithm, c.name, c.variant);
    if (may_run && !concerned) others.push_back(full_name(c));
    named |= concerned;
    usable |= concerned && c.reason.empty();
    allowed |= concerned && may_run;
  }
  if (!own.empty() && named && !usable)
    throw Error(TESSERA_BACKEND_UNAVAILABLE,
                asked + own + " is not usable here" + reasons(candidates, own) + list_others(candidates, own));
  if (!own.empty() && !allowed)
    throw Error(TESSERA_UNSUPPORTED, asked + "this plan is to run on " + join(others) + ", not on " + own +
                                         ": choose that backend, or an algorithm without '" + own + "/'; " +
                                         list_algorithms(candidates, ""));
  throw Error(TESSERA_UNSUPPORTED,
              asked + refusals(candidates, request) + "; " + list_algorithms(candidates, algorithm.name));
}

std::vector<Choice> rank(std::span<const Candidate> candidates, const Request& request, const std::string& search) {
  const BackendSpec& spec = request.backend;
  bool named = false, usable = false, has_device = false, has_algorithm = false;
  std::vector<Choice> able;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    if (!spec.name.empty() && !matches(spec.name, c.name, c.variant)) continue;
    named = true;
    if (!c.reason.empty()) continue;
    usable = true;
    if (spec.device >= c.device_count) continue;
    has_device = true;
    const bool concerned = concerns(request.algorithm, c.name, c.variant);
    if (narrows(request.algorithm) && (!concerned || !c.algorithm_reason.empty())) continue;
    has_algorithm = true;
    if (c.score > 0.0) able.push_back({i, std::max(spec.device, 0), 1.0 / c.score});
  }
  if (!able.empty()) {
    std::stable_sort(able.begin(), able.end(), [](const Choice& a, const Choice& b) { return a.seconds < b.seconds; });
    const Candidate& best = candidates[able.front().candidate];
    if (!best.algorithm_reason.empty()) refuse_algorithm({&best, 1}, request);
    return able;
  }

  const std::string asked = quote(spec.source, spec.name);
  if (!named && !spec.name.empty())
    throw Error(TESSERA_BACKEND_UNAVAILABLE, asked + ": " + absence(candidates, spec.name) + "; " +
                                                 list_backends(candidates) + (search.empty() ? "" : "; " + search));
  if (!usable)
    throw Error(TESSERA_BACKEND_UNAVAILABLE, spec.name.empty()
                                                 ? "no backend is usable; " + list_backends(candidates)
                                                 : asked + ": not usable here" + reasons(candidates, spec.name) +
                                                       list_others(candidates, spec.name));
  if (!has_device)
    throw Error(TESSERA_BACKEND_UNAVAILABLE, quote(spec.source, spec.name + ":" + std::to_string(spec.device)) +
                                                 ": there is no such device; " + list_devices(candidates, spec.name));
  if (!has_algorithm) refuse_algorithm(candidates, request);
  throw Error(TESSERA_UNSUPPORTED, "no usable backend supports this descriptor; " + list_backends(candidates));
}

Choice choose(std::span<const Candidate> candidates, const Request& request, const std::string& search) {
  return rank(candidates, request, search).front();
}

}  // namespace tessera::core
