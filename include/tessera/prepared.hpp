// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// PreparedOperand: B of matrix products, laid out once.
#pragma once

#include <tessera/error.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace tessera {

/// B of products in the form in which plans read it fastest, in memory of a context's device: see prepare().
/// Move-only. Any number of plans may take it, from any thread; each keeps its memory alive. Destruction takes the
/// plans of the plan cache that have it along.
class PreparedOperand {
 public:
  /// Takes a handle of the C API over.
  explicit PreparedOperand(tessera_prepared* handle) : handle_(handle) {}

  /// Name of the backend, "cpu-v4".
  std::string backend() const { return info().backend; }
  /// Number of the backend's device.
  int device() const { return info().device; }
  /// "matrix": rows at aligned places. Or the algorithm that reads it, with parameters: "packed:block_k=264".
  std::string form() const { return info().form; }
  /// Of the device's memory.
  std::uint64_t bytes() const { return info().bytes; }
  /// One line: product, backend, form, bytes.
  std::string describe() const { return info().description; }
  /// The handle of the C API, which this owns; null where this was moved from.
  tessera_prepared* get() const { return handle_.get(); }
  /// The same; throws where there is none.
  tessera_prepared* alive() const {
    if (handle_ == nullptr)
      throw Error(ErrorCode::invalid_argument, "prepared = an operand that was moved from: prepare it again");
    return get();
  }

 private:
  tessera_prepared_info info() const {
    tessera_prepared_info c{};
    c.struct_size = sizeof c;
    detail::call(tessera_get_prepared_info, alive(), &c);
    return c;
  }
  struct Destroy {
    void operator()(tessera_prepared* prepared) const { tessera_prepared_destroy(prepared); }
  };
  std::unique_ptr<tessera_prepared, Destroy> handle_;
};

}  // namespace tessera
