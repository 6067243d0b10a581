// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Validation: from a caller's descriptor to the canonical one that plugins see (tessera/plugin/abi.h), and to the
/// layouts of its operands.
#pragma once

#include "problem/canonical_system.hpp"
#include "problem/layout.hpp"

#include <tessera/dtype.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::core {

/// Whether a number is finite once it is rounded to the type of scalars of `dtype` and to `dtype`.
bool finite_in(tessera_dtype dtype, double value);

/// One operand of a problem, in the plugin's order.
struct Operand {
  const char* name;   ///< the caller's name for it: "a", "b", "c", "d", "bias", "aux", "in", "out", "u[-1]"
  tessera_role role;  ///< what it is to the caller
  tessera_dtype dtype;
  bool written;
  Layout layout;
};

/// An operand of a product that was prepared.
struct PreparedPlace {
  std::size_t place = 0;              ///< kA or kB: of a column-major product the caller's B is A here
  std::string form = {};              ///< how the plugin has laid it out
  std::shared_ptr<void> memory = {};  ///< in the context's memory
  std::int64_t bytes = 0;
  Layout given = {};  ///< that it was prepared from
};

/// A validated, canonical problem. Move-only: its descriptor points into its taps.
struct Problem {
  tessera_op op = 0;
  std::vector<Operand> operands;
  tessera_dtype scalar_dtype = 0;
  std::size_t scalar_count = 0;
  const char* scalar_names[2] = {};  ///< "alpha", "beta"
  std::string text;  ///< the problem in a few words, for describe(): "gemm f32 m=3 n=4 k=5 NN row-major"
  tessera_gemm_desc gemm{};
  tessera_stencil_desc stencil{};
  std::vector<tessera_tap> taps;
  std::shared_ptr<const CanonicalSystem> system;  ///< of a system of fields
  std::optional<PreparedPlace> prepared;          ///< what executions find in the place of the caller's operand
  /// Places of a product's operands.
  static constexpr std::size_t kA = 0, kB = 1, kC = 2, kD = 3, kBias = 4;
  /// That of aux, where there is one: behind the bias, if any.
  std::size_t aux() const { return gemm.bias == TESSERA_BIAS_NONE ? kBias : kBias + 1; }

  Problem() = default;
  Problem(Problem&&) = default;
  Problem& operator=(Problem&&) = default;

  const tessera_desc* desc() const {
    return op == TESSERA_OP_GEMM      ? reinterpret_cast<const tessera_desc*>(&gemm)
           : op == TESSERA_OP_STENCIL ? reinterpret_cast<const tessera_desc*>(&stencil)
                                      : reinterpret_cast<const tessera_desc*>(system->desc());
  }
  /// Whether an execution changes nothing.
  bool output_empty() const;
  /// The place of the operand that is written, of products and stencils.
  std::size_t output() const { return op == TESSERA_OP_GEMM ? kD : 1; }
  Problem copy() const;
  bool is_prepared(std::size_t operand) const { return prepared && prepared->place == operand; }
  /// The same problem on operands without gaps, as the staging of host operands makes them: in place, C laid out as D.
  Problem packed() const;
  /// Writes the layouts' strides into the descriptor; axes of one element get a harmless one, whatever the caller said.
  void describe_layouts();
};

/// Whether a matrix is stored the other way round.
inline bool is_transposed(tessera_transpose trans) {
  return trans == TESSERA_TRANSPOSE || trans == TESSERA_CONJUGATE_TRANSPOSE;
}

/// Bytes of an element, signed as distances are.
inline std::int64_t element_size(tessera_dtype dtype) { return std::int64_t(size_of(dtype)); }

/// The type of alpha, beta and coefficients.
inline tessera_dtype scalar_dtype(tessera_dtype dtype) {
  return with_types<AllTypes>(dtype, []<class T>(std::type_identity<T>) { return tessera_dtype(kDType<Scalar<T>>); });
}

/// Throws plugin::Error (invalid_argument, unsupported) naming the field, its value, the bound and the remedy.
/// `usual` tells the arithmetic of products that leave it to the environment and whose type has it. It is asked for
/// products alone.
Problem validate(const tessera_desc* desc, tessera_compute (*usual)());
/// The same, strict where nothing else is said.
Problem validate(const tessera_desc* desc);

// For each operation.
Problem validate_gemm(const tessera_desc* desc, tessera_compute compute);
Problem validate_stencil(const tessera_desc* desc);
Problem problem_of(std::shared_ptr<const CanonicalSystem> system);
/// Throws unless the type is known. `argument` is what a message calls it.
void validate_dtype(const std::string& argument, tessera_dtype dtype);
/// The same of products, which may be complex.
void validate_product_dtype(const std::string& argument, tessera_dtype dtype);

}  // namespace tessera::core
