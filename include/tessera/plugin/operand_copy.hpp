// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of operands of products, in their own or the next wider type. A Context that makes them has
///
///     CopyOperand copying(const OperandCopy&);  // for a plan, made with it
///     static double copying_seconds(const Machine&, const OperandCopy&);
#pragma once

#include <tessera/plugin/math.hpp>
#include <tessera/plugin/problem.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

namespace tessera::plugin {

/// An operand as it is stored, and its copy, whose rows begin at multiples of 8 elements and whose matrices follow one
/// another.
struct OperandCopy {
  int operand;  ///< 0: A, 1: B
  tessera_dtype from, to;
  std::int64_t matrices, rows, columns;  ///< one matrix where all of a batch share it
  std::int64_t ld, stride;               ///< elements from a row, a matrix to the next
  std::int64_t copy_ld, copy_stride;     ///< the same of the copy

  OperandCopy(const GemmProblem& p, int which, tessera_dtype type) : operand(which), to(type) {
    const bool is_b = operand == 1, trans = is_b ? p.trans_b : p.trans_a;
    from = is_b ? p.dtype_b : p.dtype;
    rows = is_b ? p.k : p.m, columns = is_b ? p.n : p.k;
    if (trans) std::swap(rows, columns);
    ld = is_b ? p.ldb : p.lda, stride = is_b ? p.stride_b : p.stride_a;
    matrices = stride != 0 ? p.batch : (std::min)(p.batch, std::int64_t(1));
    copy_ld = ld, copy_stride = stride;
    if (rows == 0 || columns == 0) matrices = 0;
    if (matrices == 0) return;  // nothing is copied
    copy_ld = round_up(columns, 8);
    copy_stride = stride == 0 || is_too_large() ? 0 : rows * copy_ld;
  }
  /// Of the narrower operand of a product of two types in the type of the other, which has all its values.
  static OperandCopy widening(const GemmProblem& p) {
    OperandCopy copy(p, p.wider() == p.dtype ? 1 : 0, p.wider());
    if (p.m == 0 || p.n == 0) copy.matrices = 0;
    return copy;
  }

  double elements() const { return double(matrices) * double(rows) * double(columns); }

  /// Whether the copy has more than 2^62 bytes.
  bool is_too_large() const { return double(matrices) * double(rows) * double(copy_ld) * double(size_of(to)) > 0x1p62; }
  /// Of the copy, a multiple of 256; more than there is memory where it is too large.
  std::uint64_t bytes() const {
    if (is_too_large()) return (std::numeric_limits<std::uint64_t>::max)();
    return (std::uint64_t(matrices * rows * copy_ld) * size_of(to) + 255) / 256 * 256;
  }

  /// The product with the copy in place of the operand.
  GemmProblem copied(GemmProblem p) const {
    (operand == 1 ? p.dtype_b : p.dtype) = to;
    (operand == 1 ? p.ldb : p.lda) = copy_ld;
    (operand == 1 ? p.stride_b : p.stride_a) = copy_stride;
    return p;
  }
};

/// Bytes of the matrix with which the memory of a prepared operand begins: 0 where its form has none.
inline std::uint64_t matrix_bytes(const GemmProblem& p) {
  if (!p.form->matrix) return 0;
  return OperandCopy(p, p.form->operand, p.form->operand == 0 ? p.dtype : p.dtype_b).bytes();
}

/// Makes the copy: queues that, or does it on the host. Allocates nothing.
using CopyOperand = std::function<void(const void* from, void* to)>;

/// Calls body(std::type_identity<From>{}, std::type_identity<To>{}) for the types of a copy.
template <class Body>
decltype(auto) with_copied_types(const OperandCopy& copy, Body&& body) {
  return with_types(copy.from, [&]<class T>(std::type_identity<T> type) -> decltype(auto) {
    using Wider = std::conditional_t<sizeof(T) == 2, Scalar<T>, double>;
    if (copy.to != copy.from) return body(type, std::type_identity<Wider>{});
    return body(type, type);
  });
}

}  // namespace tessera::plugin
