// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "systems.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::test {
namespace {

/// What the trials of a problem share. Arrays: the state's two levels, the medium, the series of the source and of the
/// receiver.
template <class T>
struct Wave {
  StencilSystem system;
  SystemField u, medium;
  std::int64_t steps;
  std::vector<std::vector<T>> arrays, expected;

  Wave(std::vector<std::int64_t> extents, int accuracy, Boundary boundary, std::int64_t steps_of_all)
      : system(extents, kDType<T>),
        u(system.state("u", {.levels = 2, .boundary = boundary})),
        medium(system.array("medium")),
        steps(steps_of_all) {
    const int rank = int(extents.size());
    system.update(u) = 2 * u - u[-1] + medium * u.under(taps::laplacian(rank, accuracy));
    std::array<std::int64_t, 3> at{};
    for (int axis = 0; axis < rank; ++axis) at[std::size_t(axis)] = extents[std::size_t(axis)] / 2;
    system.inject(u, {{at}, {0.5}, {0}, 1});
    system.record(u, {{at}, {1.0}, {0}, 1});
  }
};

template <class T>
class WaveTrial final : public Trial::Implementation {
 public:
  WaveTrial(Context& context, const PlanOptions& options, std::shared_ptr<const Wave<T>> wave)
      : wave_(std::move(wave)), result_(wave_->arrays), plan_(context, wave_->system, wave_->steps, options) {
    std::vector<T*> at;
    for (auto& array : result_)
      if (options.operands == Memory::host) {
        at.push_back(array.data());
      } else {
        buffers_.emplace_back(context, std::int64_t(array.size()));
        at.push_back(buffers_.back().data());
      }
    fields_ = {{wave_->u, at[0], at[1]}, {wave_->medium, at[2]}};
    series_ = {.injected = {at[3]}, .recorded = {at[4]}};
  }

  bool run() override {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      std::ranges::copy(wave_->arrays[i], result_[i].begin());
      if (!buffers_.empty()) buffers_[i].upload(result_[i]);
    }
    plan_.execute(fields_, series_);
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].download(result_[i]);
    const auto same_bits = [](const std::vector<T>& a, const std::vector<T>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
    };
    return std::ranges::equal(result_, wave_->expected, same_bits);
  }
  std::string name() const override { return plan_.describe(); }
  const std::vector<std::vector<T>>& result() const { return result_; }

 private:
  std::shared_ptr<const Wave<T>> wave_;
  std::vector<std::vector<T>> result_;
  std::vector<Buffer<T>> buffers_;
  std::vector<FieldArrays> fields_;
  SystemSeries series_;
  SystemPlan plan_;
};

template <class T>
std::shared_ptr<Wave<T>> some_wave(std::mt19937& random) {
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<std::int64_t> extents(1 + pick(random, 3));
  std::int64_t points = 1;
  for (std::int64_t& n : extents)
    points *= n = 9 + std::int64_t(pick(random, extents.size() == 3 ? 40 : extents.size() == 2 ? 150 : 5000));
  constexpr Boundary kModes[] = {Boundary::fixed, Boundary::fixed, Boundary::periodic, Boundary::mirror};
  const int accuracy = 2 * (1 + int(pick(random, 4)));
  const Boundary boundary = kModes[pick(random, std::size(kModes))];
  auto wave = std::make_shared<Wave<T>>(extents, accuracy, boundary, 1 + std::int64_t(pick(random, 5)));
  for (const std::int64_t count : {points, points, points, wave->steps, wave->steps}) {
    wave->arrays.emplace_back(std::size_t(count));
    for (T& value : wave->arrays.back()) value = uniform(random);
  }
  return wave;
}

}  // namespace

template <class T>
std::optional<Problem> system_problem(const std::string& backend, const PlanOptions& options, std::mt19937& random) {
  const std::shared_ptr<Wave<T>> wave = some_wave<T>(random);
  Context context = make_context(backend);
  try {
    WaveTrial<T> trial(context, options, wave);
    trial.run();
    wave->expected = trial.result();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported || options.algorithm.empty()) throw;
    return std::nullopt;
  }
  return Problem{[=](Context& of_trial, Plans) {  // the plan cache keeps none of systems
    return Trial(std::make_unique<WaveTrial<T>>(of_trial, options, wave));
  }};
}

template std::optional<Problem> system_problem<float>(const std::string&, const PlanOptions&, std::mt19937&);
template std::optional<Problem> system_problem<double>(const std::string&, const PlanOptions&, std::mt19937&);

}  // namespace tessera::test
