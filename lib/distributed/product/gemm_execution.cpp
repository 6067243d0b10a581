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
#include <vector>

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
  DeviceProduct* product;
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

void GemmPlan::copy(void* target, const void* source, std::int64_t bytes, int direction) const {
  if (bytes > 0) copy_bytes(context_.get(), target, source, bytes, direction);
}

/// A local array as the host can read it: itself, or a copy in `room`.
const void* GemmPlan::on_host(const void* local, std::int64_t bytes, std::vector<unsigned char>& room) const {
  if (copier_ == nullptr || bytes == 0) return local;
  room.resize(std::size_t(bytes));
  copy(room.data(), local, bytes, TESSERA_COPY_TO_HOST);
  return room.data();
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
    const std::int64_t element = element_of(role), own = spread.elements(comm_->rank());
    if (whole.elements(comm_->rank()) > 0 && global == nullptr)
      invalid("global", "null", "must be an array on the root");
    if (own > 0 && local == nullptr) invalid("local", "null", "must be an array");
    move.emplace(comm_, to_root ? spread : whole, to_root ? whole : spread, element);
    std::vector<unsigned char> room;
    move->pack(to_root ? on_host(local, own * element, room) : global);
  }));
  return std::move(*move);
}

void GemmPlan::scatter(tessera_role role, int root, const void* global, void* local) {
  Redistribution move = begin_move(role, root, global, local, false);
  move.exchange();
  together(*comm_, [&] { unpack(move, local, matrix(role).elements(comm_->rank()) * element_of(role)); });
}

void GemmPlan::gather(tessera_role role, int root, const void* local, void* global) {
  Redistribution move = begin_move(role, root, global, local, true);
  move.exchange();
  move.unpack(global);
}

/// Writes what has come to a local array of so many bytes.
void GemmPlan::unpack(const Redistribution& move, void* local, std::int64_t bytes) const {
  if (copier_ == nullptr) return move.unpack(local);
  std::vector<unsigned char> staged(std::size_t(bytes), 0);
  move.unpack(staged.data());
  copy(local, staged.data(), bytes, TESSERA_COPY_TO_DEVICE);
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
  if (product_ == nullptr) call(tessera_context_synchronize, context_.get());
}

/// One collective tells whether all ranks go on, with the same scalars.
void GemmPlan::execute(double alpha, const void* a, const void* b, double beta, void* c) {
  with_types(desc_.dtype_d,
             [&]<class T>(std::type_identity<T>) { alpha = double(Scalar<T>(alpha)), beta = double(Scalar<T>(beta)); });
  const void *const left = swapped_ ? b : a, *const right = swapped_ ? a : b;
  const bool scales = alpha == 0.0 || desc_.k == 0;
  Progress progress;
  progress.run([&] { check_operands(alpha, {a, b, c}); });
  if (product_ != nullptr)
    product_->open({scales ? nullptr : left_.aligned_array(left), scales ? nullptr : right_.aligned_array(right)},
                   progress);
  const double scalars[] = {alpha, beta};
  if (!agree_on(*comm_, progress.outcome(), hash_of(scalars, sizeof scalars))) {
    Signature same;
    same.add("alpha", alpha), same.add("beta", beta);
    same.refuse(*comm_);
  }
  const Closing closing{scales ? nullptr : product_.get()};
  if (scales) {
    progress.run([&] {
      if (is_empty()) return;
      run_product(scale_.get(), desc_.dtype, desc_.dtype_d, alpha, nullptr, nullptr, beta, c);
    });
  } else if (product_ != nullptr) {
    aligned(left_, left, progress), aligned(right_, right, progress);
    multiply_on_device(alpha, beta, c, progress);
  } else {
    left_.ring->start(aligned(left_, left, progress));
    right_.ring->start(aligned(right_, right, progress));
    multiply(alpha, beta, c, progress);
  }
  agree(*comm_, progress.outcome());
}

/// The local array that panels are cut from.
const void* GemmPlan::aligned(Factor& factor, const void* local, Progress& progress) {
  if (!factor.move) return local;
  const std::int64_t element = element_of(TESSERA_ROLE_A);
  const int rank = comm_->rank();
  void* const target = const_cast<void*>(factor.aligned_array(local));
  progress.run([&] {
    std::vector<unsigned char> room;
    factor.move->pack(on_host(local, factor.stored.elements(rank) * element, room));
  });
  progress.always([&] { factor.move->exchange(); });
  progress.run([&] { unpack(*factor.move, target, factor.aligned.elements(rank) * element); });
  return target;
}

/// Multiplies panel by panel, while the next two come.
void GemmPlan::multiply(double alpha, double beta, void* c, Progress& progress) {
  const auto begin = [&](std::size_t panel) {
    if (panel < panels_.size()) left_.ring->begin(panel, progress), right_.ring->begin(panel, progress);
  };
  const auto finish = [&](std::size_t panel) {
    if (panel < panels_.size()) left_.ring->finish(panel, progress), right_.ring->finish(panel, progress);
  };
  void* const sums = sums_ == nullptr ? c : tessera_buffer_data(sums_.get());
  begin(0), finish(0);
  for (std::size_t panel = 0; panel < panels_.size(); ++panel) {
    begin(panel + 1);
    progress.run([&] {
      if (is_empty()) return;
      // The product before this one reads what the next panels are written to.
      if (copier_ != nullptr) call(tessera_context_synchronize, context_.get());
      const double kept = panel > 0 ? 1.0 : sums_ == nullptr ? beta : 0.0;
      const auto& plan = plans_.at({panels_[panel].width, left_.ring->ld(panel)});
      run_product(plan.get(), desc_.dtype, scalar_of(desc_.dtype_d), alpha, left_.ring->data(panel),
                  right_.ring->data(panel), kept, sums);
    });
    finish(panel + 1);
  }
  left_.ring->end(), right_.ring->end();
  if (sums_ != nullptr) progress.run([&] { round_sums(beta, c); });
}

/// Sums over several ranges of k are rounded at last, as those over panels.
void GemmPlan::multiply_on_device(double alpha, double beta, void* c, Progress& progress) {
  void* const sums = sums_ == nullptr ? c : tessera_buffer_data(sums_.get());
  product_->queue(alpha, sums_ == nullptr ? beta : 0.0, sums, progress);
  if (sums_ != nullptr) progress.run([&] { round_sums(beta, c); });
}

/// Through the host's memory, also where C is a device's.
void GemmPlan::round_sums(double beta, void* c) const {
  const std::int64_t count = result_.elements(comm_->rank());
  std::vector<unsigned char> room, staged;
  const auto* const sums = static_cast<const float*>(on_host(tessera_buffer_data(sums_.get()), count * 4, room));
  void* target = c;
  if (copier_ != nullptr) {
    staged.resize(std::size_t(count * 2));
    if (beta != 0.0) copy(staged.data(), c, count * 2, TESSERA_COPY_TO_HOST);
    target = staged.data();
  }
  with_types<NarrowTypes>(desc_.dtype_d, [&]<class T>(std::type_identity<T>) {
    round_each(sums, float(beta), static_cast<T*>(target), count);
  });
  if (copier_ != nullptr) copy(c, target, count * 2, TESSERA_COPY_TO_DEVICE);
}

}  // namespace tessera::distributed
