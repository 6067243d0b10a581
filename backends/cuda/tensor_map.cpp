// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor_map.hpp"

#include "error.hpp"

#include <cuda_runtime_api.h>
#include <tessera/plugin/plugin.hpp>

#include <string>

namespace tessera::cuda {
namespace {

void* find_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  constexpr unsigned kSince = 12000;  // CUDA 12.0
  TESSERA_CUDA_CHECK(cudaGetDriverEntryPointByVersion(name, &function, kSince, cudaEnableDefault, &found));
#else
  TESSERA_CUDA_CHECK(cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess || function == nullptr)
    throw plugin::Error(TESSERA_BACKEND_UNAVAILABLE,
                        std::string("the driver has no ") + name + ": it must be that of CUDA 12.0 or later");
  return function;
}

// Found again after a failure.
auto encode() {
  static const auto function =
      reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(find_function("cuTensorMapEncodeTiled"));
  return function;
}
auto replace_address() {
  static const auto function =
      reinterpret_cast<decltype(&cuTensorMapReplaceAddress)>(find_function("cuTensorMapReplaceAddress"));
  return function;
}

}  // namespace

void require_tensor_maps() {
  encode();
  replace_address();
}

namespace {

CUtensorMapDataType type_of(const BoxedTensor& t) {
  if (t.element_bytes == 2) return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  if (t.box_neighbours == 0) return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  return t.element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
}

}  // namespace

CUtensorMap tensor_map(const BoxedTensor& t) {
  CUtensorMap map;
  const bool plain = t.box_neighbours != 0;
  const cuuint32_t along = cuuint32_t(plain ? t.box_neighbours : 128 / t.element_bytes);
  // The boxes of a pair are an axis of their own before the last one.
  const int axes = t.pair ? 4 : 3;
  const cuuint32_t boxes = t.pair ? 2 : 1, steps[4] = {1, 1, 1, 1};
  const cuuint32_t box[4] = {along, cuuint32_t(t.box_rows), boxes, 1};
  cuuint64_t extents[4] = {cuuint64_t(t.neighbours), cuuint64_t(t.rows), boxes, 1};
  cuuint64_t distances[3] = {cuuint64_t(t.row_bytes), along * cuuint64_t(t.element_bytes), 0};
  extents[axes - 1] = cuuint64_t(t.matrices), distances[axes - 2] = cuuint64_t(t.matrix_bytes);
  const CUresult result =
      encode()(&map, type_of(t), cuuint32_t(axes), const_cast<void*>(t.data), extents, distances, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, plain ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return map;
  throw plugin::Error(TESSERA_INTERNAL, "cuTensorMapEncodeTiled refuses " + std::to_string(t.neighbours) + " x " +
                                            std::to_string(t.rows) + " x " + std::to_string(t.matrices) +
                                            " elements with rows of " + std::to_string(t.row_bytes) +
                                            " bytes: " + std::to_string(int(result)));
}

const CUtensorMap& TensorMap::of(const BoxedTensor& tensor) {
  BoxedTensor moved = tensor_;
  moved.data = tensor.data;
  if (moved != tensor)
    map_ = tensor_map(tensor);
  else if (tensor_.data != tensor.data && replace_address()(&map_, const_cast<void*>(tensor.data)) != CUDA_SUCCESS)
    throw plugin::Error(TESSERA_INTERNAL, "cuTensorMapReplaceAddress refuses an address");
  tensor_ = tensor;
  return map_;
}

}  // namespace tessera::cuda
