// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The binary interface of DLPack 1.3, as far as this package reads and makes it: https://dmlc.github.io/dlpack.
#pragma once

#include <cstdint>

namespace tessera::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Device {
  std::int32_t type, id;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< elements; null: C order
  std::uint64_t byte_offset;
};

/// What a capsule "dltensor" holds.
struct Managed {
  Tensor tensor;
  void* manager;
  void (*deleter)(Managed*);
};

struct Version {
  std::uint32_t major, minor;
};
inline constexpr std::uint64_t kReadOnly = 1;

/// What a capsule "dltensor_versioned" holds.
struct ManagedVersioned {
  Version version;
  void* manager;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

/// Functions that a type of arrays offers beside __dlpack__, as the capsule "dlpack_exchange_api" that its attribute
/// __dlpack_c_exchange_api__ is. They set a Python exception and return another number than 0 where they fail. None of
/// them waits for a stream.
struct Exchange {
  Version version;
  const Exchange* previous;
  int (*allocate)(Tensor* like, ManagedVersioned** made, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_of_object)(void* object, ManagedVersioned** made);
  int (*object_of_managed)(ManagedVersioned* managed, void** object);
  int (*tensor_of_object)(void* object, Tensor* tensor);  ///< may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

}  // namespace tessera::python::dlpack
