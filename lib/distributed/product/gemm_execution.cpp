// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a distributed product does with arrays: matrices to and from a root, and the product.

#include "check.hpp"
#include "gemm.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace tessera::distributed {
namespace {

using core::invalid;

/// C <- sums + beta C, rounded to C's type of 16 bits once.
template <class T>
void round_each(const float* sums, float beta, T* c, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) c[i] = T(beta == 0.0f ? sums[i] : sums[i] + beta * float(c[i]));
}

/// When all ranks have said how it went, and also where one has failed: what is queued next waits for readers.
struct Closing {
  LocalProduct* product;
  ~Closing() {
    if (product != nullptr) product->close();
  }
};

}  // namespace

std::int64_t GemmPlan::element_of(tessera_role matrix) const {
  return std::int64_t(size_of(DType(matrix == TESSERA_ROLE_C ? desc_.dtype_d : desc_.dtype)));
}

const Spread& GemmPlan::matrix(tessera_role role) const {
  core::one_of("matrix", role, TESSERA_ROLE_A, TESSERA_ROLE_C, "A (1), B (2), C (3)");
  return matrices_[std::size_t(role - TESSERA_ROLE_A)];
}

/// Collective: checks the arguments of scatter and gather, and makes room for the messages.
Redistribution GemmPlan::begin_move(tessera_role role, int root, const void* global, const void* local, bool to_root) {
  Signature same;
  std::optional<Redistribution> move;
  same.check(*comm_, outcome_of([&] {
    same.add("matrix", role), same.add("root", root);
    if (root < 0 || root >= comm_->size())
      invalid("root", root, "must lie in [0, " + std::to_string(comm_->size()) + ")");
    const Spread &spread = matrix(role), whole = whole_on(root, spread);
    if (whole.elements(comm_->rank()) > 0 && global == nullptr)
      invalid("global", "null", "must be an array on the root");
    if (spread.elements(comm_->rank()) > 0 && local == nullptr) invalid("local", "null", "must be an array");
    if (to_root)
      move.emplace(comm_, spread, device(), whole, nullptr, element_of(role));
    else
      move.emplace(comm_, whole, nullptr, spread, device(), element_of(role));
    move->take(to_root ? local : global);
  }));
  return std::move(*move);
}

void GemmPlan::scatter(tessera_role role, int root, const void* global, void* local) {
  Progress progress;
  begin_move(role, root, global, local, false).give(local, progress);
  agree(*comm_, progress.outcome());
}

void GemmPlan::gather(tessera_role role, int root, const void* local, void* global) {
  Progress progress;
  begin_move(role, root, global, local, true).give(global, progress);
  progress.finish();
}

/// Throws where this rank may not execute.
void GemmPlan::check_operands(double alpha, const void* const (&operands)[3]) const {
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const bool used = i == 2 || (alpha != 0.0 && desc_.k > 0);
    if (used && operands[i] == nullptr && matrices_[i].elements(comm_->rank()) > 0)
      invalid(kMatrixNames[i], "null", "must be this rank's array");
    if (used && i < 2 && operands[i] != nullptr && operands[i] == operands[2])
      invalid("c", kMatrixNames[i], "must be another array: the result may not overlap the factors");
  }
  // Copies and messages through the host read what was queued before.
  if (!on_devices_) call(tessera_context_synchronize, context_.get());
}

/// One collective tells whether all ranks go on, with the same scalars.
void GemmPlan::execute(double alpha, const void* a, const void* b, double beta, void* c) {
  with_types(desc_.dtype_d,
             [&]<class T>(std::type_identity<T>) { alpha = double(Scalar<T>(alpha)), beta = double(Scalar<T>(beta)); });
  const void *const left = swapped_ ? b : a, *const right = swapped_ ? a : b;
  const bool scales = alpha == 0.0 || desc_.k == 0;
  Progress progress;
  progress.run([&] { check_operands(alpha, {a, b, c}); });
  product_->open({scales ? nullptr : left_.aligned_array(left), scales ? nullptr : right_.aligned_array(right)},
                 progress);
  const double scalars[] = {alpha, beta};
  try {
    if (!agree_on(*comm_, progress.outcome(), hash_of(scalars, sizeof scalars))) {
      Signature same;
      same.add("alpha", alpha), same.add("beta", beta);
      same.refuse(*comm_);
    }
  } catch (...) {  // where the group breaks others may have heard that all go on
    product_->fail();
    throw;
  }
  const Closing closing{scales ? nullptr : product_.get()};
  if (scales) {
    progress.run([&] {
      if (is_empty()) return;
      run_product(scale_.get(), desc_.dtype, desc_.dtype_d, alpha, nullptr, nullptr, beta, c);
    });
  } else {
    bring(left_, left, progress), bring(right_, right, progress);
    product_->queue(alpha, sums_ == nullptr ? beta : 0.0, sums_ == nullptr ? c : tessera_buffer_data(sums_.get()),
                    progress);
    // Sums over several ranges of k are rounded at last.
    if (sums_ != nullptr) progress.run([&] { round_sums(beta, c); });
  }
  agree(*comm_, progress.outcome());
}

/// To where it is multiplied or sent from.
void GemmPlan::bring(Factor& factor, const void* local, Progress& progress) const {
  if (!factor.move) return;
  progress.run([&] { factor.move->take(local); });
  factor.move->give(const_cast<void*>(factor.aligned_array(local)), progress);
}

/// Through the host's memory, also where C is a device's.
void GemmPlan::round_sums(double beta, void* c) {
  const std::int64_t count = result_.elements(comm_->rank());
  if (count == 0) return;
  const void* sums = tessera_buffer_data(sums_.get());
  void* target = c;
  if (copier_ != nullptr) {
    copy_bytes(context_.get(), host_sums_.data(), sums, count * 4, TESSERA_COPY_TO_HOST);
    if (beta != 0.0) copy_bytes(context_.get(), host_c_.data(), c, count * 2, TESSERA_COPY_TO_HOST);
    sums = host_sums_.data(), target = host_c_.data();
  }
  with_types<NarrowTypes>(desc_.dtype_d, [&]<class T>(std::type_identity<T>) {
    round_each(static_cast<const float*>(sums), float(beta), static_cast<T*>(target), count);
  });
  if (copier_ != nullptr) copy_bytes(context_.get(), c, target, count * 2, TESSERA_COPY_TO_DEVICE);
}

}  // namespace tessera::distributed
