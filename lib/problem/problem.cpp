// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/problem.hpp"

#include "check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace tessera::core {

bool Problem::output_empty() const {
  for (const Operand& operand : operands)
    if (operand.written && operand.layout.empty()) return true;
  return false;
}

Problem Problem::copy() const {
  Problem result;
  result.op = op;
  result.operands = operands;
  result.scalar_dtype = scalar_dtype;
  result.scalar_count = scalar_count;
  std::copy(std::begin(scalar_names), std::end(scalar_names), result.scalar_names);
  result.text = text;
  result.gemm = gemm;
  result.stencil = stencil;
  result.taps = taps;
  result.stencil.taps = result.taps.data();
  return result;
}

Problem Problem::packed() const {
  Problem result = copy();
  for (Operand& operand : result.operands) operand.layout = operand.layout.packed();
  if (op == TESSERA_OP_GEMM) result.operands[kC].layout = result.operands[kD].layout;
  result.describe_layouts();
  return result;
}

void Problem::describe_layouts() {
  for (Operand& operand : operands) operand.layout.tidy();
  if (op == TESSERA_OP_GEMM) {
    // Axes of the layouts: batch, rows, columns.
    const auto strides = [this](std::size_t i) { return operands[i].layout.strides; };
    gemm.stride_a = strides(kA)[0], gemm.lda = strides(kA)[1];
    gemm.stride_b = strides(kB)[0], gemm.ldb = strides(kB)[1];
    gemm.stride_c = strides(kC)[0], gemm.ldc = strides(kC)[1];
    gemm.stride_d = strides(kD)[0], gemm.ldd = strides(kD)[1];
    if (gemm.bias != TESSERA_BIAS_NONE) gemm.bias_stride = strides(kBias)[0], gemm.bias_increment = strides(kBias)[1];
    return;
  }
  for (int axis = 0; axis < stencil.rank; ++axis) {
    stencil.in_strides[axis] = operands[0].layout.strides[axis];
    stencil.out_strides[axis] = operands[1].layout.strides[axis];
  }
}

void validate_dtype(const std::string& argument, tessera_dtype dtype) {
  if (is_known(DType(dtype))) return;
  std::vector<std::string> known;
  for (const DType type : kDTypes) known.push_back(std::string(name_of(type)) + " (" + std::to_string(int(type)) + ")");
  invalid(argument, dtype, "must be one of " + join(known));
}

Problem validate(const tessera_desc* desc) {
  return validate(desc, [] { return tessera_compute{TESSERA_COMPUTE_STRICT}; });
}

Problem validate(const tessera_desc* desc, tessera_compute (*usual)()) {
  if (desc == nullptr) invalid("desc", "null", "pass a tessera_gemm_desc or a tessera_stencil_desc");
  std::uint64_t size = 0;
  std::memcpy(&size, desc, sizeof size);
  if (size < offsetof(tessera_desc, op) + sizeof(tessera_op))
    invalid("struct_size", std::int64_t(size), "must be the size of the descriptor");
  switch (desc->op) {
    case TESSERA_OP_GEMM:
      return validate_gemm(desc, usual());
    case TESSERA_OP_STENCIL:
      return validate_stencil(desc);
    default:
      invalid("op", desc->op, "must be TESSERA_OP_GEMM (1) or TESSERA_OP_STENCIL (2)");
  }
}

}  // namespace tessera::core
