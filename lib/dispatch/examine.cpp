// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/examine.hpp"

#include <tessera/plugin/error.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tessera::core {
namespace {

/// At most `most` characters of a string that may lack its end.
std::string at_most(const char* text, std::size_t most) {
  return text == nullptr ? "" : std::string(text, strnlen(text, most));
}

/// "" for a table that holds everything required.
std::string table_problem(const tessera_backend* table, const std::string& name) {
  if (table == nullptr) return "tessera_backend_v1() returned null";
  constexpr std::uint64_t required = offsetof(tessera_backend, native_stream);
  if (table->struct_size < required)
    return "its table has " + std::to_string(table->struct_size) + " bytes, at least " + std::to_string(required) +
           " are needed";
  if (table->abi_version != TESSERA_BACKEND_ABI_VERSION) return other_abi(table->abi_version);
  if (const std::string own = at_most(table->name, std::max(name.size(), kMostNameLength) + 1); own != name)
    return "it calls itself '" + own + "', its file says '" + name + "'";
  const auto* bytes = reinterpret_cast<const unsigned char*>(table);
  for (std::size_t at = offsetof(tessera_backend, available); at < required; at += sizeof(void*)) {
    void* function = nullptr;
    std::memcpy(&function, bytes + at, sizeof function);
    if (function == nullptr) return "its table lacks a required function";
  }
  return "";
}

/// Why `name` cannot be an algorithm's beside `others`: TESSERA_GEMM_ALGORITHM must be able to name each. "" if it can.
std::string name_problem(const std::string& name, const std::vector<std::string>& others) {
  if (name.empty()) return "is null or empty";
  if (name.size() > kMostNameLength) return "has more than " + std::to_string(kMostNameLength) + " characters";
  for (const char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_' && c != '-')
      return "holds another character than letters, digits, '_' and '-'";
  if (std::find(others.begin(), others.end(), name) != others.end()) return "is '" + name + "', as one before it";
  return "";
}

std::string list_algorithms(const tessera_backend& table, tessera_op op, std::vector<std::string>& names) {
  const std::string of = op == TESSERA_OP_GEMM      ? " for products"
                         : op == TESSERA_OP_STENCIL ? " for stencils"
                                                    : " for systems";
  std::uint64_t count = 0;
  if (std::string thrown = thrown_by("algorithm_count", [&] { count = table.algorithm_count(op); }); !thrown.empty())
    return thrown;
  if (count > kMostAlgorithms)
    return "it says that it has " + std::to_string(count) + " algorithms" + of + ", at most " +
           std::to_string(kMostAlgorithms) + " are believed";
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* given = nullptr;
    if (std::string thrown = thrown_by("algorithm_name", [&] { given = table.algorithm_name(op, i); }); !thrown.empty())
      return thrown;
    std::string name = at_most(given, kMostNameLength + 1);
    if (const std::string problem = name_problem(name, names); !problem.empty())
      return "the name of its algorithm " + std::to_string(i) + of + " " + problem;
    names.push_back(std::move(name));
  }
  return "";
}

std::string list_devices(const tessera_backend& table, std::vector<DeviceDescription>& devices) {
  std::int32_t count = 0;
  if (std::string thrown = thrown_by("device_count", [&] { count = table.device_count(); }); !thrown.empty())
    return thrown;
  if (count == 0) return "it has no device";
  if (count < 0 || count > kMostDevices)
    return "it says that it has " + std::to_string(count) + " devices, from 0 to " + std::to_string(kMostDevices) +
           " are believed";
  for (std::int32_t device = 0; device < count; ++device) {
    tessera_device_info info{};
    info.struct_size = sizeof info;
    const std::string which = "its device " + std::to_string(device);
    const std::string failure =
        failure_of("device_info", [&](tessera_error* error) { return table.device_info(device, &info, error); });
    if (!failure.empty()) return which + " cannot be described: " + failure;
    if (info.name == nullptr) return which + " has no name";
    devices.push_back({at_most(info.name, kMostTextLength), info.memory_bytes});
  }
  return "";
}

std::string ask_small_gemm(const tessera_backend& table, SmallGemm& small) {
  small.table = &table;
  const auto entry = optional_entry(table, &tessera_backend::small_gemm);
  if (entry == nullptr) return "";
  return thrown_by("small_gemm", [&] {
    for (const tessera_dtype dtype : {TESSERA_F32, TESSERA_F64}) {
      auto& [multiply, extent, multiply_adds] = small.of_type[std::size_t(dtype - TESSERA_F32)];
      multiply = entry(dtype, &extent, &multiply_adds);
      extent = multiply == nullptr ? 0 : std::min(extent, kMostSmall);
    }
  });
}

Examined examine_once(const tessera_backend* table, const std::string& name) {
  Examined found;
  found.reason = table_problem(table, name);
  for (const tessera_op op : {TESSERA_OP_GEMM, TESSERA_OP_STENCIL, TESSERA_OP_SYSTEM})
    if (found.reason.empty()) found.reason = list_algorithms(*table, op, found.algorithms[std::size_t(op - 1)]);
  if (!found.reason.empty()) return found;
  found.sound = true;
  found.build_info = at_most(table->build_info, kMostTextLength);
  found.reason = failure_of("available", [&](tessera_error* error) { return table->available(error); });
  if (found.reason.empty()) found.reason = list_devices(*table, found.devices);
  if (found.reason.empty()) found.reason = ask_small_gemm(*table, found.small);
  if (!found.reason.empty()) found.devices.clear();
  return found;
}

/// "Tessera 0.3 (plugin ABI v1)". Before 0.2 a table did not tell the minor version.
std::string made_for(std::uint32_t version) {
  const std::uint32_t major = version & 0xffff, minor = version >> 16;
  const std::string tessera = minor != 0   ? "Tessera 0." + std::to_string(minor)
                              : major == 1 ? "a Tessera before 0.2"
                                           : "a later Tessera";
  return tessera + " (plugin ABI v" + std::to_string(major) + ")";
}

}  // namespace

std::string other_abi(std::uint32_t version) {
  return "it was made for " + made_for(version) + ", this library is " + made_for(TESSERA_BACKEND_ABI_VERSION) +
         ": build the plugin for this one";
}

KeepsExceptionCount::~KeepsExceptionCount() {
  if (std::uncaught_exceptions() == count_) return;
  // Itanium C++ ABI: Exception Handling, 2.2.2: what the globals begin with.
  struct Globals {
    void* caught;
    unsigned int uncaught;
  };
  reinterpret_cast<Globals*>(abi::__cxa_get_globals())->uncaught = unsigned(count_);
}

Examined examine(const tessera_backend* table, const std::string& name) {
  // A want of memory may be over at the second try. What claims it again is the plugin's own affair: the device's, say.
  try {
    return examine_once(table, name);
  } catch (const std::bad_alloc&) {
  } catch (const plugin::Error&) {
  }
  Examined found;
  try {
    return examine_once(table, name);
  } catch (const std::bad_alloc&) {
    found.reason = "host memory is exhausted";
  } catch (const plugin::Error& error) {
    found.reason = error.what();
  }
  if (found.reason.empty()) found.reason = "it has too little memory and gave no reason";
  return found;
}

}  // namespace tessera::core
