// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/staging.hpp"

namespace tessera::core {

Staging::Staging(const std::shared_ptr<Context>& context, const Problem& host_problem)
    : context_(context), packed_(host_problem.packed()) {
  for (std::size_t i = 0; i < packed_.operands.size(); ++i) {
    host_.push_back(host_problem.operands[i].layout);
    const std::int64_t bytes = packed_.operands[i].layout.count() * size_of(i);
    // The product is computed in place where all of D is written: its memory holds C before. What was prepared has
    // its own.
    memory_.push_back(place(i) == i && !packed_.is_prepared(i) ? std::make_unique<DeviceMemory>(context, bytes)
                                                               : nullptr);
  }
}

std::size_t Staging::place(std::size_t operand) const {
  return packed_.op == TESSERA_OP_GEMM && operand == Problem::kC && !keeps(Problem::kD) ? Problem::kD : operand;
}

bool Staging::keeps(std::size_t operand) const {
  if (packed_.op != TESSERA_OP_GEMM || operand != Problem::kD) return false;
  return packed_.gemm.triangle == TESSERA_TRIANGLE_LOWER || packed_.gemm.triangle == TESSERA_TRIANGLE_UPPER;
}

std::int64_t Staging::size_of(std::size_t operand) const { return element_size(packed_.operands[operand].dtype); }

std::uint64_t Staging::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& memory : memory_) sum += memory == nullptr ? 0 : std::uint64_t(memory->bytes());
  return sum;
}

void* Staging::device_pointer(std::size_t operand) const {
  if (packed_.is_prepared(operand)) return packed_.prepared->memory.get();
  const Layout& layout = packed_.operands[operand].layout;
  return static_cast<char*>(memory_[place(operand)]->data()) - layout.origin() * size_of(operand);
}

tessera_copy copy_between(const Layout& host, const Layout& device, std::int64_t element_size, int direction) {
  const bool up = direction == TESSERA_COPY_TO_DEVICE;
  tessera_copy copy{};
  copy.struct_size = sizeof copy;
  copy.direction = direction;
  copy.element_size = std::uint64_t(element_size);
  for (int axis = 0; axis < device.rank; ++axis) {
    if (device.strides[axis] == 0 && device.extents[axis] > 0) continue;  // one matrix for the whole batch
    copy.extents[copy.rank] = device.extents[axis];
    copy.target_strides[copy.rank] = up ? device.strides[axis] : host.strides[axis];
    copy.source_strides[copy.rank] = up ? host.strides[axis] : device.strides[axis];
    ++copy.rank;
  }
  return copy;
}

void Staging::upload(std::size_t operand, const void* host) {
  tessera_copy copy = copy_of(operand, TESSERA_COPY_TO_DEVICE);
  copy.target = memory_[place(operand)]->data();
  copy.source = static_cast<const char*>(host) + host_[operand].origin() * size_of(operand);
  context_->call(context_->table().copy, context_->handle(), &copy);
}

void Staging::download(std::size_t operand, void* host) {
  tessera_copy copy = copy_of(operand, TESSERA_COPY_TO_HOST);
  copy.target = static_cast<char*>(host) + host_[operand].origin() * size_of(operand);
  copy.source = memory_[operand]->data();
  context_->call(context_->table().copy, context_->handle(), &copy);
}

}  // namespace tessera::core
