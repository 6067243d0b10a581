// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a distributed stencil does with arrays: blocks to and from a root, and steps.

#include "alike.hpp"
#include "check.hpp"
#include "stencil.hpp"
#include "tags.hpp"
#include "together.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

namespace tessera::distributed {
namespace {

/// Copies a box between an array and packed bytes, both on the host. The root's array may be const.
void copy_rows(const Array& array, const void* data, const Box& box, void* packed, bool out_of_array) {
  const Array part{box, array.element};
  const std::size_t row = std::size_t((box.high[2] - box.low[2]) * array.element);
  auto* const whole = static_cast<unsigned char*>(const_cast<void*>(data));
  auto* const dense = static_cast<unsigned char*>(packed);
  for (std::int64_t i = box.low[0]; i < box.high[0]; ++i)
    for (std::int64_t j = box.low[1]; j < box.high[1]; ++j) {
      unsigned char* const here = whole + array.offset({i, j, box.low[2]}) * array.element;
      unsigned char* const there = dense + part.offset({i, j, box.low[2]}) * array.element;
      std::memcpy(out_of_array ? there : here, out_of_array ? here : there, row);
    }
}

}  // namespace

/// Collective: checks the arguments of scatter and gather and makes room for a block.
void StencilPlan::begin_move(int root, const void* global, const void* local) {
  together(*comm_, [&] {
    if (root < 0 || root >= comm_->size())
      core::invalid("root", root, "must lie in [0, " + std::to_string(comm_->size()) + ")");
    if (comm_->rank() == root && global == nullptr) core::invalid("global", "null", "must be an array on the root");
    if (local == nullptr) core::invalid("local", "null", "must be an array");
    std::int64_t bytes = 0;
    for (int rank = 0; rank < comm_->size(); ++rank)
      if (rank == comm_->rank() || comm_->rank() == root)
        bytes = std::max(bytes, cut_->block(rank).points() * own_.element);
    moved_.resize(std::size_t(bytes));
  });
  together(*comm_, [&] {
    Alike arguments;
    arguments.add("root", std::int64_t(root));
    arguments.check(*comm_);
  });
}

void StencilPlan::scatter(int root, const void* global, void* local) {
  begin_move(root, global, local);
  const Array whole{{{}, domain_.extents}, own_.element};
  const Box own = cut_->block(comm_->rank());
  if (comm_->rank() != root) {
    comm_->receive(moved_.data(), std::size_t(own.points() * own_.element), root, kBlockTag).wait();
  } else {
    for (int rank = 0; rank < comm_->size(); ++rank) {
      const Box box = cut_->block(rank);
      if (rank == root) continue;
      copy_rows(whole, global, box, moved_.data(), true);
      comm_->send(moved_.data(), std::size_t(box.points() * own_.element), rank, kBlockTag).wait();
    }
    copy_rows(whole, global, own, moved_.data(), true);
  }
  together(*comm_, [&] { unpack(copier_.get(), own_, local, own, moved_.data()); });
}

void StencilPlan::gather(int root, const void* local, void* global) {
  begin_move(root, global, local);
  const Array whole{{{}, domain_.extents}, own_.element};
  const Box own = cut_->block(comm_->rank());
  together(*comm_, [&] {
    call(tessera_context_synchronize, context_.get());
    pack(copier_.get(), own_, const_cast<void*>(local), own, moved_.data());
  });
  if (comm_->rank() != root)
    return comm_->send(moved_.data(), std::size_t(own.points() * own_.element), root, kBlockTag).wait();
  copy_rows(whole, global, own, moved_.data(), false);
  for (int rank = 0; rank < comm_->size(); ++rank) {
    const Box box = cut_->block(rank);
    if (rank == root) continue;
    comm_->receive(moved_.data(), std::size_t(box.points() * own_.element), rank, kBlockTag).wait();
    copy_rows(whole, global, box, moved_.data(), false);
  }
}

void StencilPlan::run_piece(const Piece& piece, const void* in, void* out) {
  const tessera_operand operands[] = {{const_cast<void*>(in), desc_.dtype, TESSERA_ROLE_IN},
                                      {out, desc_.dtype, TESSERA_ROLE_OUT}};
  tessera_execution execution{};
  execution.struct_size = sizeof execution;
  execution.operands = operands, execution.operand_size = sizeof *operands, execution.operand_count = 2;
  execution.scalar_size = sizeof(tessera_scalar);
  call(tessera_plan_execute, piece.plan.get(), &execution);
}

void StencilPlan::run(const std::vector<Piece>& pieces, const void* in, void* out) {
  if (failure_) return;
  attempt([&] {
    for (const Piece& piece : pieces) run_piece(piece, at(in, piece.offset), at(out, piece.offset));
  });
}

void StencilPlan::step(const Stage& stage, void* in, void* out) {
  const bool exchanged = exchange_ != nullptr;
  if (exchanged)
    attempt([&] {
      if (!on_host_ && !failure_) call(tessera_context_synchronize, context_.get());
    });
  if (exchanged) attempt([&] { exchange_->begin(copier_.get(), in, failure_ != nullptr); });
  run(stage.before, in, out);
  if (exchanged)
    attempt([&] {
      const int lost = exchange_->finish(copier_.get(), in, failure_ != nullptr);
      if (lost >= 0)
        throw Error(TESSERA_DEVICE_ERROR, "rank " + std::to_string(lost) + " has failed; its own error tells why");
    });
  run(stage.after, in, out);
}

void StencilPlan::execute(void* in, void* out) {
  failure_ = nullptr;
  const auto check = [&] {
    if (in == nullptr) core::invalid("in", "null", "must be an array");
    if (out == nullptr) core::invalid("out", "null", "must be an array");
    if (in == out) core::invalid("out", "in", "must be another array: neighbours of a point are read after it");
  };
  if (nccl_ != nullptr) {  // whose messages cannot say that their sender has failed
    together(*comm_, check);
    return execute_on_device(in, out);
  }
  attempt(check);
  void* from = in;
  for (std::int64_t round = 0; round < rounds_; ++round) {
    void* const to = target_of(round, out);
    step(stage_of(round), from, to);
    from = to;
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace tessera::distributed
