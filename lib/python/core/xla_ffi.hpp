// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The binary interface of XLA's foreign functions 0.1 to 0.3, as far as this package's need it:
/// https://openxla.org/xla/custom_call. Structures begin with their size, so that newer ones may be longer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::python::xla {

struct Extension {
  std::size_t struct_size;
  std::int32_t type;
  Extension* next;
};
inline constexpr std::int32_t kMetadata = 1;

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  std::int32_t major, minor;
};
/// What the runtime asks for where the first extension of a call is of type kMetadata. More may follow.
struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

enum DataType : std::int32_t { kF16 = 10, kF32 = 11, kF64 = 12, kBF16 = 16 };

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  DataType dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
struct Bytes {
  const char* data;
  std::size_t size;
};
struct Scalar {
  std::int32_t dtype;
  void* value;
};

enum AttributeType : std::int32_t { kScalar = 3, kString = 4 };

/// Arguments or results, all of which are buffers.
struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  std::int32_t* types;
  Buffer** buffers;
};
struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  AttributeType* types;
  Bytes** names;
  void** values;
};

struct Error;
struct Context;

enum ErrorCode : std::int32_t { kInvalidArgument = 3, kUnimplemented = 12, kInternal = 13 };

struct ErrorCreate {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  ErrorCode code;
};
struct StreamGet {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  void* stream;  ///< out
};
struct DeviceGet {
  std::size_t struct_size;
  Extension* extensions;
  Context* context;
  std::int32_t device;  ///< out
};

using Function = void (*)();

/// The runtime's functions, those of other names not spelled out.
struct Api {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*error_create)(ErrorCreate*);
  Function before_stream[3];
  Error* (*stream_get)(StreamGet*);
  Function before_device[12];
  Error* (*device_get)(DeviceGet*);  ///< where struct_size says that it is there
};

struct Call {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  Context* context;
  std::int32_t stage;
  Buffers arguments, results;
  Attributes attributes;
};

}  // namespace tessera::python::xla
