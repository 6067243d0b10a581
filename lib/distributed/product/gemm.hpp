// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A product of matrices that are spread over a grid of ranks: SUMMA (van de Geijn and Watts, 1997), whose panels
/// travel around rings, or on devices that reach each other one product of all of k. A column-major product is taken as
/// the row-major one of the transposed matrices, C^T = op(B)^T op(A)^T; "left" and "right" are the factors of what is
/// computed.
#pragma once

#include "block_cyclic.hpp"
#include "group/agreement.hpp"
#include "handles.hpp"
#include "local_product.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::distributed {

class GemmPlan {
 public:
  /// Collective. The layouts are those of A, B and C.
  GemmPlan(std::shared_ptr<Comm> comm, tessera_context* context, const tessera_gemm_desc& desc,
           const std::array<tessera_layout, 3>& layouts, const tessera_plan_options& options);

  tessera_local_matrix local(tessera_role matrix, int rank) const;
  const std::string& description() const { return description_; }

  void scatter(tessera_role matrix, int root, const void* global, void* local);
  void gather(tessera_role matrix, int root, const void* local, void* global);
  void execute(double alpha, const void* a, const void* b, double beta, void* c);

 private:
  /// A factor: what the user has of it, and what travels or is multiplied.
  struct Factor {
    Spread stored, aligned;
    std::optional<Redistribution> move;  ///< from the one to the other, where they differ
    BufferHandle moved;

    const void* aligned_array(const void* local) const { return move ? tessera_buffer_data(moved.get()) : local; }
  };

  void read(const tessera_gemm_desc& desc) const;
  void add_to(Signature& signature, const std::array<tessera_layout, 3>& layouts) const;
  void spread(const std::array<tessera_layout, 3>& layouts);
  void align();
  void look_at_context(const tessera_plan_options& options);
  std::array<Gathering, kFactors> factors_of(bool aligned) const;
  void join_devices(const tessera_plan_options& options);
  void make_product(const tessera_plan_options& options);
  void make_moves();
  void describe();

  bool is_empty() const { return result_.elements(comm_->rank()) == 0; }
  std::int64_t element_of(tessera_role matrix) const;
  const Spread& matrix(tessera_role role) const;
  Redistribution begin_move(tessera_role role, int root, const void* global, const void* local, bool to_root);
  void check_operands(double alpha, const void* const (&operands)[3]) const;
  void bring(Factor& factor, const void* local, Progress& progress) const;
  void round_sums(double beta, void* c);
  /// Of arrays on a device, or null.
  tessera_context* device() const { return copier_ == nullptr ? nullptr : context_.get(); }

  std::shared_ptr<Comm> comm_;
  tessera_gemm_desc desc_;
  bool swapped_ = false;            ///< the order is column-major: left is op(B)^T
  std::array<Spread, 3> matrices_;  ///< A, B and C as the user has them
  Spread result_;                   ///< C or its transpose, by rows
  ContextHandle context_;
  ContextHandle copier_;                  ///< where a device has a memory of its own: one with a stream of its own
  std::unique_ptr<Transport> transport_;  ///< between devices, until the product has it
  std::string why_not_;                   ///< there is none
  DeviceLimits limits_;                   ///< of all devices
  bool on_devices_ = false;               ///< factors are gathered between devices; else panels, by the host
  std::unique_ptr<LocalProduct> product_;
  Factor left_, right_;
  BufferHandle sums_;                              ///< over panels or ranges of k, where C has a narrower type
  std::vector<unsigned char> host_sums_, host_c_;  ///< where a device's are rounded
  PlanHandle scale_;                               ///< C <- beta C
  std::string description_;
};

}  // namespace tessera::distributed
