// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problems.hpp"

#include "systems.hpp"

#include <cstring>
#include <optional>
#include <stdexcept>

namespace tessera::test {
namespace {

constexpr int kProblemsOfEach = 6;

/// Operands and result of a problem, which its trials share.
template <class T>
struct Data {
  std::vector<std::vector<T>> inputs;
  std::vector<T> expected;
};

template <class T>
std::vector<T> some_values(std::mt19937& random, std::int64_t count) {
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = uniform(random);
  return values;
}

struct Gemm {
  GemmDesc desc;
  using Plan = GemmPlan;
  template <class T>
  static void execute(Plan& plan, const std::vector<const T*>& in, T* out) {
    plan.execute(T(0.5), in[0], in[1], T(0), out);
  }
};

struct Stencil {
  StencilDesc desc;
  using Plan = StencilPlan;
  template <class T>
  static void execute(Plan& plan, const std::vector<const T*>& in, T* out) {
    plan.execute(in[0], out);
  }
};

template <class T, class Operation>
class PlanTrial final : public Trial::Implementation {
 public:
  PlanTrial(Context& context, const Operation& operation, const PlanOptions& options, std::shared_ptr<Data<T>> data,
            Plans plans)
      : data_(std::move(data)),
        result_(data_->expected.size()),
        plan_(plans == Plans::borrowed ? Operation::Plan::borrow(context, operation.desc, options)
                                       : typename Operation::Plan(context, operation.desc, options)) {
    if (options.operands == Memory::host) {
      for (const auto& input : data_->inputs) in_.push_back(input.data());
      return;
    }
    for (const auto& input : data_->inputs) {
      buffers_.emplace_back(context, std::int64_t(input.size())).upload(input);
      in_.push_back(buffers_.back().data());
    }
    out_.emplace(context, std::int64_t(result_.size()));
  }

  bool run() override {
    std::fill(result_.begin(), result_.end(), T(-7));
    if (out_) out_->upload(result_);
    Operation::template execute<T>(plan_, in_, out_ ? out_->data() : result_.data());
    if (out_) out_->download(result_);
    return std::memcmp(result_.data(), data_->expected.data(), result_.size() * sizeof(T)) == 0;
  }
  std::string name() const override { return plan_.describe(); }
  const std::vector<T>& result() const { return result_; }

 private:
  std::shared_ptr<Data<T>> data_;
  std::vector<T> result_;
  std::vector<Buffer<T>> buffers_;
  std::optional<Buffer<T>> out_;
  std::vector<const T*> in_;
  typename Operation::Plan plan_;
};

/// Computes what is expected with one plan alone. Nothing where the algorithm cannot.
template <class T, class Operation>
std::optional<Problem> problem(const std::string& backend, const Operation& operation, const PlanOptions& options,
                               std::shared_ptr<Data<T>> data) {
  Context context = make_context(backend);
  try {
    PlanTrial<T, Operation> trial(context, operation, options, data, Plans::own);
    trial.run();
    data->expected = trial.result();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported || options.algorithm.empty()) throw;
    return std::nullopt;
  }
  return Problem{[=](Context& of_trial, Plans plans) {
    return Trial(std::make_unique<PlanTrial<T, Operation>>(of_trial, operation, options, data, plans));
  }};
}

template <class T>
std::optional<Problem> gemm_problem(const std::string& backend, const PlanOptions& options, std::mt19937& random) {
  Gemm gemm;
  GemmDesc& d = gemm.desc;
  d.dtype = kDType<T>;
  d.m = 1 + std::int64_t(pick(random, 130)), d.n = 1 + std::int64_t(pick(random, 130));
  d.k = 1 + std::int64_t(pick(random, pick(random, 4) == 0 ? 5000 : 130));
  d.trans_a = pick(random, 2) == 0 ? Transpose::yes : Transpose::no;
  d.trans_b = pick(random, 2) == 0 ? Transpose::yes : Transpose::no;
  d.batch = pick(random, 4) == 0 ? 5 : 1;
  auto data = std::make_shared<Data<T>>();
  data->inputs = {some_values<T>(random, d.batch * d.m * d.k), some_values<T>(random, d.batch * d.k * d.n)};
  data->expected.resize(std::size_t(d.batch * d.m * d.n));
  return problem<T>(backend, gemm, options, data);
}

template <class T>
std::optional<Problem> stencil_problem(const std::string& backend, const PlanOptions& options, std::mt19937& random) {
  Stencil stencil;
  StencilDesc& d = stencil.desc;
  d.dtype = kDType<T>;
  const int rank = 1 + int(pick(random, 3));
  std::int64_t points = 1;
  for (int axis = 0; axis < rank; ++axis) {
    d.extents.push_back(5 + std::int64_t(pick(random, rank == 3 ? 45 : rank == 2 ? 200 : 9000)));
    points *= d.extents.back();
  }
  d.taps = pick(random, 2) == 0 ? taps::laplacian(rank) : taps::box(rank, 1);
  constexpr Boundary kModes[] = {Boundary::periodic, Boundary::nearest, Boundary::fixed, Boundary::mirror};
  d.boundary = kModes[pick(random, std::size(kModes))];
  d.steps = 1 + std::int64_t(pick(random, 6));
  auto data = std::make_shared<Data<T>>();
  data->inputs = {some_values<T>(random, points)};
  data->expected.resize(std::size_t(points));
  return problem<T>(backend, stencil, options, data);
}

}  // namespace

Context make_context(const std::string& backend) {
  ContextOptions options;
  options.threads = 2;
  return Context(backend, options);
}

std::vector<Problem> make_problems(const std::string& backend, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Problem> problems;
  const auto add_all = [&](std::vector<std::string> algorithms, auto make) {
    algorithms.emplace_back();  // the automatic choice
    for (const std::string& algorithm : algorithms)
      for (int i = 0; i < kProblemsOfEach; ++i) {
        PlanOptions options;
        options.algorithm = algorithm;
        options.operands = pick(random, 2) == 0 ? Memory::host : Memory::device;
        if (auto made = with_types<WideTypes>(WideTypes::kDTypes[std::size_t(i) % std::size(WideTypes::kDTypes)],
                                              [&](auto type) { return make(type, options); }))
          problems.push_back(std::move(*made));
      }
  };
  for (const BackendInfo& info : backends())
    if (info.name == backend) {
      add_all(info.gemm_algorithms, [&]<class T>(std::type_identity<T>, const PlanOptions& options) {
        return gemm_problem<T>(backend, options, random);
      });
      add_all(info.stencil_algorithms, [&]<class T>(std::type_identity<T>, const PlanOptions& options) {
        return stencil_problem<T>(backend, options, random);
      });
      add_all(info.system_algorithms, [&]<class T>(std::type_identity<T>, const PlanOptions& options) {
        return system_problem<T>(backend, options, random);
      });
    }
  if (problems.empty()) throw std::runtime_error("there is no backend " + backend);
  return problems;
}

}  // namespace tessera::test
