// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device.hpp"

#include <cublas_api.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace tessera::perf {

std::unique_ptr<Competitor> make_cublas(cudaStream_t stream);
/// Which algorithms of cuBLASLt: the first of the heuristic's list; the fastest of the list, measured; the same of the
/// list without those that add up parts of sums in D's type, where D has 16 bits and the list holds such.
enum class FromList { first, best, best_in_f32 };
std::unique_ptr<Competitor> make_cublaslt(cudaStream_t stream, FromList choice);
/// The latter with a bias, then a kernel with the activation that cuBLASLt lacks.
std::unique_ptr<Competitor> make_cublaslt_kernel(cudaStream_t stream);

/// NVIDIA's name of a type.
inline cudaDataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}
/// What sums are computed in.
inline cublasComputeType_t compute_type(const Kind& kind) {
  if (kind.compute == TESSERA_COMPUTE_TF32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  return data_type(kind.dtype) == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

/// Both libraries share the status type, an enumeration of which 0 is success.
template <class Status>
void succeed_blas(Status status, const char* what) {
  if (int(status) != 0)
    throw std::runtime_error(std::string(what) + " failed with status " + std::to_string(int(status)));
}

}  // namespace tessera::perf
