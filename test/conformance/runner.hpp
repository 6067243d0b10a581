// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Runs plans on guarded arrays and says what is wrong with what they did.
#pragma once

#include "guarded.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "subject.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// A copy of a guarded array in device memory, between zones that nobody may write.
template <class T>
class DeviceArray {
 public:
  /// `shift` elements away from the buffer's alignment: plans must not count on more than that of an element.
  DeviceArray(Context& context, const GuardedArray<T>& array, std::int64_t shift);
  T* data() { return buffer_.data() + first_; }
  /// Copies back into `array`; false when the zones have changed.
  bool download(GuardedArray<T>& array) const;

 private:
  static constexpr std::int64_t kZone = 128;
  std::int64_t first_;
  Buffer<T> buffer_;
  std::vector<T> zones_before_;
};

/// Arrays lie against either guard page, so that both ends and both alignments are seen.
inline GuardedBytes::Against any_side(Random& random) {
  return random.bits() % 2 == 0 ? GuardedBytes::Against::end : GuardedBytes::Against::begin;
}

/// One case with its data and what must come of it, A of type T, B of type U, C and D of type D. Made once, run by
/// every algorithm.
template <class T, class D = T, class U = T>
class GemmTrial {
 public:
  /// `compute`: the arithmetic that the product permits.
  explicit GemmTrial(const GemmCase& c, Compute compute = Compute::strict);
  /// Executes twice, each time on poisoned outputs. Returns "" or what is wrong. Ends the program where memory beside
  /// an operand was written.
  std::string run(Context& context, GemmPlan& plan, Memory memory);
  /// The same of a plan that has its B prepared.
  std::string run_prepared(Context& context, GemmPlan& plan, Memory memory);
  /// B, for so many rows, by an algorithm. Throws where that has no plan for it.
  PreparedOperand prepare(Context& context, std::int64_t rows, const std::string& algorithm, Memory memory);
  const GemmDesc& desc() const { return desc_; }

 private:
  using S = Scalar<D>;

  void fill(const GemmCase& c);
  void fill_integers(
      const GemmCase& c, int bits, std::int64_t limit, double scale,
      const std::function<double(std::int64_t)>& small_scale = [](std::int64_t) { return 1.0; });
  void fill_around_overflow();
  void fill_bits();
  template <class Value>
  void fill_bias(Value&& value);
  std::vector<double> packed_bias() const;
  std::vector<double> packed_aux() const;
  void execute_on_host(GemmPlan& plan);
  void execute_on_device(Context& context, GemmPlan& plan);
  void execute(GemmPlan& plan, const T* a, const U* b, D* c, D* d, D* bias, float* f32_bias, D* aux) const;
  std::string judge() const;
  const GuardedArray<D>& out() const { return beside_c_ ? d_ : c_; }
  GuardedArray<D>& out() { return beside_c_ ? d_ : c_; }

  std::string name_;
  GemmDesc desc_;
  GemmLayout layout_;
  bool beside_c_, f32_bias_given_;  ///< D is not C; the bias is in f32_bias_, not in bias_
  S alpha_, beta_;
  bool exact_, null_inputs_, null_c_;
  bool b_prepared_ = false;
  Random random_;
  std::int64_t shift_;
  GuardedArray<T> a_;
  GuardedArray<U> b_;
  GuardedArray<D> c_, d_, bias_, aux_;
  GuardedArray<float> f32_bias_;
  std::vector<T> a_before_;
  std::vector<U> b_before_;
  std::vector<D> c_before_, out_before_, bias_before_, aux_before_;
  std::vector<float> f32_bias_before_;
  Expected<D> expected_;
};

template <class T>
class StencilTrial {
 public:
  explicit StencilTrial(const StencilCase& c);
  std::string run(Context& context, StencilPlan& plan, Memory memory);
  const StencilDesc& desc() const { return desc_; }

 private:
  void fill(StencilData data);
  std::string judge() const;

  std::string name_;
  StencilDesc desc_;
  StencilLayout layout_;
  bool exact_;
  Random random_;
  std::int64_t shift_;
  GuardedArray<T> in_, out_;
  std::vector<T> in_before_, out_before_;
  Expected<T> expected_;
};

/// What runs, for messages: the case, the plan and how to repeat it.
std::string what_runs(const std::string& name, const Plan& plan);

/// "computed 1.5, expected 2 +- 1e-7".
template <class T>
std::string disagreement(T computed, Wide<T> value, Wide<T> bound);

}  // namespace tessera::test
