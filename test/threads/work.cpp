// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "work.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>

namespace tessera::test {
namespace {

/// The same in every process.
template <class T>
std::vector<T> some_values(std::int64_t count) {
  std::minstd_rand random(1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = T(double(random()) / double(random.max()) - 0.5);
  return values;
}

template <class T>
std::uint64_t hash(const std::vector<T>& values) {
  std::uint64_t h = 14695981039346656037u;
  for (const T value : values) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    h = (h ^ bits) * 1099511628211u;
  }
  return h;
}

template <class T>
class GemmJob final : public Job {
 public:
  GemmJob(const Context& context, const GemmDesc& d, const PlanOptions& options)
      : a_(some_values<T>(d.m * d.k)),
        b_(some_values<T>(d.k * d.n)),
        c_(static_cast<std::size_t>(d.m * d.n)),
        plan_(context, d, options) {}

  std::uint64_t run() override {
    std::fill(c_.begin(), c_.end(), T(7));
    plan_.execute(T(0.5), a_.data(), b_.data(), T(0.25), c_.data());
    return hash(c_);
  }

 private:
  std::vector<T> a_, b_, c_;
  GemmPlan plan_;
};

template <class T>
class StencilJob final : public Job {
 public:
  StencilJob(const Context& context, const StencilDesc& d, std::int64_t points, const PlanOptions& options)
      : in_(some_values<T>(points)), out_(in_.size()), plan_(context, d, options) {}

  std::uint64_t run() override {
    std::fill(out_.begin(), out_.end(), T(7));
    plan_.execute(in_.data(), out_.data());
    return hash(out_);
  }

 private:
  std::vector<T> in_, out_;
  StencilPlan plan_;
};

template <class T>
void add_gemms(const Context& context, const Wish& wish, const std::string& algorithm, Jobs& jobs) {
  const auto add = [&](GemmDesc d) {
    d.dtype = kDType<T>;
    PlanOptions options;
    options.algorithm = algorithm;
    options.workspace_limit = wish.workspace_limit;
    jobs.push_back(std::make_unique<GemmJob<T>>(context, d, options));
    jobs.back()->name = "gemm " + algorithm + " " + name_of(kDType<T>);
  };
  if (wish.large) return add({.m = 1200, .n = 1200, .k = 1200});
  add({.m = 170, .n = 190, .k = 210});
  add({.m = 211, .n = 203, .k = 170, .trans_a = Transpose::yes, .trans_b = Transpose::yes});
  add({.m = 24, .n = 40, .k = 9000, .trans_b = Transpose::yes});  // slices of k
}

template <class T>
void add_stencils(const Context& context, const Wish& wish, const std::string& algorithm, Jobs& jobs) {
  const auto add = [&](StencilDesc d, std::int64_t points) {
    d.dtype = kDType<T>;
    PlanOptions options;
    options.algorithm = algorithm;
    jobs.push_back(std::make_unique<StencilJob<T>>(context, d, points, options));
    jobs.back()->name = "stencil " + algorithm + " " + name_of(kDType<T>);
  };
  if (wish.large) return add({.extents = {4096, 2048}, .taps = taps::laplacian(2)}, 4096 * 2048);
  add({.extents = {300, 410}, .taps = taps::laplacian(2), .boundary = Boundary::periodic, .steps = 5}, 300 * 410);
  add({.extents = {47, 61, 70}, .taps = taps::box(3, 1), .boundary = Boundary::nearest, .steps = 3}, 47 * 61 * 70);
}

BackendInfo info_of(const std::string& backend) {
  for (BackendInfo& info : backends())
    if (info.name == backend) return std::move(info);
  throw std::runtime_error("there is no backend " + backend);
}

}  // namespace

Context context_of(const Wish& wish) {
  ContextOptions options;
  options.threads = wish.threads;
  return Context(wish.backend, options);
}

Jobs jobs_of(const Context& context, const Wish& wish) {
  const BackendInfo info = info_of(wish.backend);
  Jobs jobs;
  const auto wanted = [&](const std::string& algorithm) {
    const bool one_thread = algorithm == "reference", slow = algorithm == "mdrange";
    return !one_thread && !(wish.large && slow);
  };
  for (const std::string& algorithm : info.gemm_algorithms)
    if (wanted(algorithm))
      for (const DType dtype : WideTypes::kDTypes)
        with_types<WideTypes>(dtype,
                              [&]<class T>(std::type_identity<T>) { add_gemms<T>(context, wish, algorithm, jobs); });
  for (const std::string& algorithm : info.stencil_algorithms)
    if (wanted(algorithm))
      for (const DType dtype : WideTypes::kDTypes)
        with_types<WideTypes>(dtype,
                              [&]<class T>(std::type_identity<T>) { add_stencils<T>(context, wish, algorithm, jobs); });
  return jobs;
}

std::vector<std::uint64_t> results(const Jobs& jobs) {
  std::vector<std::uint64_t> hashes;
  for (const auto& job : jobs) hashes.push_back(job->run());
  return hashes;
}

void require_same(const Jobs& jobs, const std::vector<std::uint64_t>& hashes, const std::string& where) {
  if (jobs.size() != hashes.size() || jobs.empty()) throw std::runtime_error(where + ": not the same jobs");
  std::string differing;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i]->run() != hashes[i]) differing += " " + jobs[i]->name + ";";
  if (!differing.empty()) throw std::runtime_error(where + ": other bits for" + differing);
}

}  // namespace tessera::test
