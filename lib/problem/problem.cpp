// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem/problem.hpp"

#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace tessera::core {

bool finite_in(tessera_dtype dtype, double value) {
  return with_types(dtype,
                    [value]<class T>(std::type_identity<T>) { return std::isfinite(Scalar<T>(T(Scalar<T>(value)))); });
}

bool Problem::output_empty() const {
  if (op == TESSERA_OP_SYSTEM) return system->system().steps == 0;
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
  result.system = system;
  result.prepared = prepared;
  return result;
}

Problem Problem::packed() const {
  if (op == TESSERA_OP_SYSTEM) {
    System packed = system->system();
    for (System::Field& field : packed.fields) field.layout = field.layout.packed();
    return problem_of(std::make_shared<const CanonicalSystem>(std::move(packed)));
  }
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
    if (gemm.aux != TESSERA_AUX_NONE) gemm.stride_aux = strides(aux())[0], gemm.ldaux = strides(aux())[1];
    return;
  }
  for (int axis = 0; axis < stencil.rank; ++axis) {
    stencil.in_strides[axis] = operands[0].layout.strides[axis];
    stencil.out_strides[axis] = operands[1].layout.strides[axis];
  }
}

namespace {

template <class DTypes>
[[noreturn]] void refuse_dtype(const std::string& argument, tessera_dtype dtype, const DTypes& dtypes) {
  std::vector<std::string> known;
  for (const DType type : dtypes) known.push_back(std::string(name_of(type)) + " (" + std::to_string(int(type)) + ")");
  invalid(argument, dtype, "must be one of " + join(known));
}

}  // namespace

void validate_dtype(const std::string& argument, tessera_dtype dtype) {
  if (!is_known(DType(dtype))) refuse_dtype(argument, dtype, kDTypes);
}
void validate_product_dtype(const std::string& argument, tessera_dtype dtype) {
  if (!is_known(DType(dtype)) && !is_complex(dtype)) refuse_dtype(argument, dtype, kAllDTypes);
}

Problem problem_of(std::shared_ptr<const CanonicalSystem> canonical) {
  const System& s = canonical->system();
  Problem problem;
  problem.op = TESSERA_OP_SYSTEM;
  problem.text = s.text;
  auto name = canonical->names().begin();
  for (std::size_t f = 0; f < s.fields.size(); ++f)
    for (int level = 0; level < s.fields[f].levels; ++level)
      problem.operands.push_back({(name++)->c_str(), tessera_role(TESSERA_ROLE_FIELD + 4 * std::int32_t(f) + level),
                                  s.fields[f].dtype, s.fields[f].kind == TESSERA_FIELD_STATE, s.fields[f].layout});
  const auto add_series = [&](const std::vector<System::Points>& list, tessera_role first, bool written) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      Layout layout;
      layout.add_axis(s.steps, std::max<std::int64_t>(list[i].series_count, 1));
      layout.add_axis(list[i].series_count, 1);
      problem.operands.push_back({(name++)->c_str(), tessera_role(first + std::int32_t(i)), s.dtype, written, layout});
    }
  };
  add_series(s.injections, TESSERA_ROLE_INJECTED, false);
  add_series(s.recordings, TESSERA_ROLE_RECORDED, true);
  problem.system = std::move(canonical);
  return problem;
}

Problem validate(const tessera_desc* desc) {
  return validate(desc, [] { return tessera_compute{TESSERA_COMPUTE_STRICT}; });
}

Problem validate(const tessera_desc* desc, tessera_compute (*usual)()) {
  if (desc == nullptr)
    invalid("desc", "null", "pass a tessera_gemm_desc, a tessera_stencil_desc or a tessera_system_desc");
  std::uint64_t size = 0;
  std::memcpy(&size, desc, sizeof size);
  if (size < offsetof(tessera_desc, op) + sizeof(tessera_op))
    invalid("struct_size", std::int64_t(size), "must be the size of the descriptor");
  switch (desc->op) {
    case TESSERA_OP_GEMM:
      return validate_gemm(desc, usual());
    case TESSERA_OP_STENCIL:
      return validate_stencil(desc);
    case TESSERA_OP_SYSTEM:
      return problem_of(
          std::make_shared<const CanonicalSystem>(validate_system(reinterpret_cast<const tessera_system_desc*>(desc))));
    default:
      invalid("op", desc->op, "must be TESSERA_OP_GEMM (1), TESSERA_OP_STENCIL (2) or TESSERA_OP_SYSTEM (3)");
  }
}

}  // namespace tessera::core
