// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A stencil over ranks, beside the plans of one rank that it is made of.

#include "random.hpp"
#include "scaled.hpp"
#include "taps.hpp"
#include "wide.hpp"

namespace tessera::perf {

namespace {

class ScaledStencil : public ScaledDomain {
 public:
  using ScaledDomain::ScaledDomain;

 private:
  void make() override;
  void execute() override { plan_->execute(in_.get(), out_.get()); }
  double checked() override { return compared(out_.get(), own_block()); }
  std::string describe() const override { return plan_->describe(); }
  std::vector<std::pair<std::string, double>> counters() const override {
    return halo_counters(whole_.stencil.radius, double(whole_.stencil.steps), 1.0);
  }
  void add_peers() override;
  Block block_of(int rank) const override { return plan_->block(rank); }

  std::unique_ptr<DistributedStencilPlan> plan_;
  std::shared_ptr<void> in_, out_;
};

void ScaledStencil::make() {
  together(s_.group, [&] {
    plan_ = std::make_unique<DistributedStencilPlan>(s_.group.comm(), *s_.context, stencil_desc(whole_),
                                                     s_.cut(extents_.size()), PlanOptions{.operands = s_.memory()});
  });
  together(s_.group, [&] { in_ = filled_block(input_seed(kScaledSeed, 0)), out_ = poisoned_block(); });
  // Both results err by as much: the rounding of a sum in each step, of values of size 1 at most, as sum |c| = 1.
  const auto terms = std::size_t(tap_count(whole_.stencil.pattern, whole_.stencil.rank, whole_.stencil.radius)) + 2;
  find_reference("", 2.0 * double(whole_.in_bytes(0)),
                 2.0 * 1.01 * double(whole_.stencil.steps) * roundoff_of_sum<float>(terms));
}

/// The plain kernels over NCCL, and those of one rank.
void ScaledStencil::add_peers() {
  if (!is_weak() || !s_.options.peers || s_.device_peers == nullptr || whole_.stencil.radius != 1) return;
  StencilShape own = case_.problem.stencil;
  const std::size_t plane = std::size_t(own.points() / own.extents[std::size_t(3 - own.rank)]) * sizeof(float);
  const std::size_t bytes = std::size_t(own.points()) * sizeof(float) + 2 * plane;
  std::array<std::shared_ptr<void>, 3> arrays;
  std::function<void()> cut, alone;
  together(s_.group, [&] {
    for (auto& array : arrays) array = s_.allocate(bytes);
    for (auto& array : arrays) s_.device->poison(array.get(), bytes);
    const std::int64_t offset = s_.group.rank() * own.points();
    s_.device->fill(static_cast<char*>(arrays[0].get()) + plane, whole_.kind.dtype, own.points(),
                    shifted_seed(input_seed(kScaledSeed, 0), offset), {});
    cut = s_.device_peers->jacobi(own, false, arrays[0].get(), arrays[1].get(), arrays[2].get());
    alone = s_.device_peers->jacobi(own, true, arrays[0].get(), arrays[1].get(), arrays[2].get());
  });
  cut();
  Block block = own_block();
  for (std::size_t axis = extents_.size(); axis-- > 0;)
    block.strides[axis] = axis + 1 < extents_.size() ? block.strides[axis + 1] * extents_[axis + 1] : 1;
  block.offset = block.strides[0];
  const double error = s_.group.max(compared(arrays[1].get(), block));
  const std::string version = s_.device_peers->version();
  const auto kept = [arrays](const auto& run) -> std::function<void()> { return [arrays, run] { run(); }; };
  subjects_.push_back({"peer:jacobi", kept(cut), whole_.work, error, version});
  subjects_.push_back({"peer:jacobi_one_rank", s_.is_root() ? kept(alone) : nullptr, case_.problem.work, 0.0, version});
}

}  // namespace

std::unique_ptr<ScaledCase> scaled_stencil(const Station& station, const ScalingCase& c) {
  return std::make_unique<ScaledStencil>(station, c);
}

}  // namespace tessera::perf
