// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Gradients of biases.
#include "bias_sums.cuh"
#include "context.hpp"
#include "launch.cuh"
#include "vector_access.hpp"

#include <tessera/plugin/bias_gradient.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace tessera::cuda {
namespace {

/// The gradient of a bias, as a function of D and the bias.
template <class T>
class BiasSums {
 public:
  BiasSums(Context& context, const plugin::BiasGradient& g)
      : g_(g),
        device_(context.device()),
        stream_(context.stream()),
        kernel_(g.per_row ? sum_rows_kernel<T> : sum_columns_kernel<T>),
        whole_(whole_vectors(g.dtype, {g.ldd, g.batch > 1 ? g.stride_d : 0})),
        layout_(g) {
    prepare(kernel_);
    early_.early = can_start_early(kernel_);
    if (layout_.bytes() == 0) return;
    const std::vector<std::byte> zeros(layout_.bytes());
    memory_ = std::make_shared<DeviceTable>(context, zeros.data(), zeros.size());
    layout_.place_parts(memory_->template as<Scalar<T>>());
  }

  void operator()(const void* d, void* bias) const {
    if (layout_.blocks == 0) return;
    SumArguments<T> x = layout_.x;
    x.from = static_cast<const T*>(d), x.aligned = whole_ && at_vector(d);
    x.to = {bias, sizeof(T) != plugin::size_of(g_.dtype_bias)};
    const DeviceGuard guard(device_);
    launch(kernel_, dim3(unsigned(layout_.blocks)), dim3(kSumThreads), 0, stream_, early_, x);
  }

 private:
  plugin::BiasGradient g_;
  int device_;
  cudaStream_t stream_;
  void (*kernel_)(SumArguments<T>);
  bool whole_;  ///< whether rows begin at multiples of 16 bytes
  EarlyStart early_{};
  SumLayout<T> layout_;
  std::shared_ptr<DeviceTable> memory_;  ///< of the parts and their counts, since a function is copied
};

}  // namespace

plugin::SumBias Context::summing(const plugin::BiasGradient& g) {
  const DeviceGuard guard(device_);
  return plugin::with_types(g.dtype,
                            [&]<class T>(std::type_identity<T>) -> plugin::SumBias { return BiasSums<T>(*this, g); });
}

}  // namespace tessera::cuda
