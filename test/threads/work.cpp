// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "work.hpp"

#include "takes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

namespace tessera::test {
namespace {

/// The largest element, about: 2^12 times the least number that there is, or 1.
template <class T>
T unit_of(const Workload& workload) {
  return workload.tiny ? 4096 * std::numeric_limits<T>::denorm_min() : T(1);
}

/// The same in every process.
template <class T>
std::vector<T> some_values(std::int64_t count, T unit) {
  std::minstd_rand random(1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = T(double(random()) / double(random.max()) - 0.5) * unit;
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
  GemmJob(const Context& context, const GemmDesc& d, const PlanOptions& options, const Workload& workload)
      : unit_(unit_of<T>(workload)),
        a_(some_values<T>(d.m * d.k, unit_)),
        b_(some_values<T>(d.k * d.n, T(1))),
        c_(static_cast<std::size_t>(d.m * d.n)),
        plan_(in_mode(workload.mode, [&] { return GemmPlan(context, d, options); })) {}

  std::uint64_t run() override {
    std::fill(c_.begin(), c_.end(), 7 * unit_);
    in_mode(mode, [&] { plan_.execute(T(0.5), a_.data(), b_.data(), T(0.25), c_.data()); });
    return hash(c_);
  }

 private:
  T unit_;
  std::vector<T> a_, b_, c_;
  GemmPlan plan_;
};

template <class T>
class StencilJob final : public Job {
 public:
  StencilJob(const Context& context, const StencilDesc& d, std::int64_t points, const PlanOptions& options,
             const Workload& workload)
      : in_(some_values<T>(points, unit_of<T>(workload))),
        out_(in_.size()),
        plan_(in_mode(workload.mode, [&] { return StencilPlan(context, d, options); })) {}

  std::uint64_t run() override {
    std::fill(out_.begin(), out_.end(), T(7));
    in_mode(mode, [&] { plan_.execute(in_.data(), out_.data()); });
    return hash(out_);
  }

 private:
  std::vector<T> in_, out_;
  StencilPlan plan_;
};

/// A wave with a source and receivers.
template <class T>
class SystemJob final : public Job {
 public:
  SystemJob(const Context& context, const PlanOptions& options, const Workload& workload)
      : now_(some_values<T>(kPoints, unit_of<T>(workload))),
        speed_(some_values<T>(kPoints, T(0.5))),
        source_(some_values<T>(kSteps, unit_of<T>(workload))),
        plan_(make(context, options, workload)) {}

  std::uint64_t run() override {
    std::vector<T> u = now_, before = now_, recorded(2 * kSteps);
    in_mode(mode, [&] { plan_.execute({{u_, u, before}, {c2_, speed_}}, {{source_}, {recorded}}); });
    u.insert(u.end(), before.begin(), before.end());
    u.insert(u.end(), recorded.begin(), recorded.end());
    return hash(u);
  }

 private:
  static constexpr std::int64_t kPlanes = 40, kRows = 41, kColumns = 58, kPoints = kPlanes * kRows * kColumns,
                                kSteps = 4;

  SystemPlan make(const Context& context, const PlanOptions& options, const Workload& workload) {
    system_.update(u_) = 2 * u_ - u_[-1] + c2_ * u_.under(taps::laplacian(3, 4));
    system_.inject(u_, {.points = {{20, 21, 30}}, .weights = {1.0 / 3}});
    system_.record(u_, {.points = {{19, 21, 30}, {21, 22, 31}}, .weights = {1.0 / 3, 0.7}});
    return in_mode(workload.mode, [&] { return SystemPlan(context, system_, kSteps, options); });
  }

  StencilSystem system_{{kPlanes, kRows, kColumns}, kDType<T>};
  SystemField u_ = system_.state("u", {.levels = 2}), c2_ = system_.array("c2");
  std::vector<T> now_, speed_, source_;
  SystemPlan plan_;
};

void add(Jobs& jobs, std::unique_ptr<Job> job, const std::string& name, const Workload& workload) {
  job->name = name;
  job->mode = workload.mode;
  jobs.push_back(std::move(job));
}

template <class T>
void add_gemms(const Context& context, const Workload& workload, const std::string& algorithm, Jobs& jobs) {
  const auto add_product = [&](GemmDesc d) {
    d.dtype = kDType<T>;
    PlanOptions options;
    options.algorithm = algorithm;
    options.workspace_limit = workload.workspace_limit;
    add(jobs, std::make_unique<GemmJob<T>>(context, d, options, workload),
        "gemm " + algorithm + " " + name_of(kDType<T>), workload);
  };
  if (algorithm == "small") return add_product({.m = 29, .n = 31, .k = 32});  // it takes 32 cubed everywhere
  if (algorithm == "doubled") return;                                         // of complex elements, by the others
  if (algorithm == "triangles") {
    const std::int64_t n = workload.large ? 1200 : 190;
    return add_product({.m = n, .n = n, .k = n + 20, .triangle = Triangle::lower});
  }
  if (workload.large) return add_product({.m = 1200, .n = 1200, .k = 1200});
  add_product({.m = 170, .n = 190, .k = 210});
  add_product({.m = 211, .n = 203, .k = 170, .trans_a = Transpose::yes, .trans_b = Transpose::yes});
  add_product({.m = 24, .n = 40, .k = 9000, .trans_b = Transpose::yes});  // slices of k
}

template <class T>
void add_stencils(const Context& context, const Workload& workload, const std::string& algorithm, Jobs& jobs) {
  const auto add_stencil = [&](StencilDesc d, std::int64_t points) {
    d.dtype = kDType<T>;
    PlanOptions options;
    options.algorithm = algorithm;
    add(jobs, std::make_unique<StencilJob<T>>(context, d, points, options, workload),
        "stencil " + algorithm + " " + name_of(kDType<T>), workload);
  };
  const Taps plane = takes_boxes_alone(algorithm) ? taps::box(2, 1) : taps::laplacian(2);
  if (workload.large) return add_stencil({.extents = {4096, 2048}, .taps = plane}, 4096 * 2048);
  add_stencil({.extents = {300, 410}, .taps = plane, .boundary = Boundary::periodic, .steps = 5}, 300 * 410);
  add_stencil({.extents = {47, 61, 70}, .taps = taps::box(3, 1), .boundary = Boundary::nearest, .steps = 3},
              47 * 61 * 70);
}

BackendInfo info_of(const std::string& backend) {
  for (BackendInfo& info : backends())
    if (info.name == backend) return std::move(info);
  throw std::runtime_error("there is no backend " + backend);
}

}  // namespace

Context context_of(const Workload& workload) {
  ContextOptions options;
  options.threads = workload.threads;
  return in_mode(workload.mode, [&] { return Context(workload.backend, options); });
}

Jobs jobs_of(const Context& context, const Workload& workload) {
  const BackendInfo info = info_of(workload.backend);
  Jobs jobs;
  const auto wanted = [&](const std::string& algorithm) {
    const bool one_thread = algorithm == "reference", slow = algorithm == "mdrange";
    return !one_thread && !(workload.large && slow);
  };
  for (const std::string& algorithm : info.gemm_algorithms)
    if (wanted(algorithm))
      for (const DType dtype : WideTypes::kDTypes)
        with_types<WideTypes>(
            dtype, [&]<class T>(std::type_identity<T>) { add_gemms<T>(context, workload, algorithm, jobs); });
  for (const std::string& algorithm : info.stencil_algorithms)
    if (wanted(algorithm))
      for (const DType dtype : WideTypes::kDTypes)
        with_types<WideTypes>(
            dtype, [&]<class T>(std::type_identity<T>) { add_stencils<T>(context, workload, algorithm, jobs); });
  for (const std::string& algorithm : info.system_algorithms)
    if (wanted(algorithm) && !workload.large)
      for (const DType dtype : WideTypes::kDTypes)
        with_types<WideTypes>(dtype, [&]<class T>(std::type_identity<T>) {
          PlanOptions options;
          options.algorithm = algorithm;
          add(jobs, std::make_unique<SystemJob<T>>(context, options, workload),
              "system " + algorithm + " " + name_of(kDType<T>), workload);
        });
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
