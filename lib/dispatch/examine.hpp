// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The first look at a plugin's table: what it says of itself is checked and copied once, so that nothing which a
/// plugin does wrong here reaches beyond the plugin.
#pragma once

#include <tessera/plugin/abi.h>
#include <tessera/plugin/error.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace tessera::core {

/// Bounds on what a table says. What exceeds them is taken for a defect.
inline constexpr std::uint64_t kMostAlgorithms = 256;
inline constexpr std::int32_t kMostDevices = 4096;
inline constexpr std::size_t kMostNameLength = 64;    ///< of a backend or an algorithm
inline constexpr std::size_t kMostTextLength = 1024;  ///< of a device's name, build_info, or a reason
inline constexpr std::int64_t kMostSmall = 1024;      ///< m, n and k of a small product

struct DeviceDescription {
  std::string name;
  std::uint64_t memory_bytes = 0;
};

/// How a backend multiplies small matrices without a plan.
struct SmallGemm {
  struct OfType {
    tessera_small_gemm_function multiply = nullptr;
    std::int64_t extent = 0, multiply_adds = 0;  ///< most of m, n and k, and of their product; 0: nothing does
  };
  static constexpr std::size_t kTypes = 2;  ///< TESSERA_F32 and TESSERA_F64
  std::array<OfType, kTypes> of_type{};
  const tessera_backend* table = nullptr;
};

/// An entry of the table that may be missing: null.
template <class Function>
Function optional_entry(const tessera_backend& table, Function tessera_backend::*entry) {
  const auto* const begin = reinterpret_cast<const char*>(&table);
  const auto* const end = reinterpret_cast<const char*>(&(table.*entry)) + sizeof(Function);
  return table.struct_size < std::uint64_t(end - begin) ? nullptr : table.*entry;
}

struct Examined {
  bool sound = false;  ///< the table keeps the contract as far as can be seen: its functions may be called
  std::string reason;  ///< why the backend cannot be used here; "" when it can
  std::string build_info;
  std::array<std::vector<std::string>, 3> algorithms;  ///< of TESSERA_OP_GEMM, _STENCIL and _SYSTEM
  std::vector<DeviceDescription> devices;
  SmallGemm small;
};

/// Examines the table of the plugin whose file says `name`. What the plugin throws becomes the reason.
Examined examine(const tessera_backend* table, const std::string& name);

/// What is wrong with a plugin that was built for another version of the contract, TESSERA_BACKEND_ABI_VERSION.
std::string other_abi(std::uint32_t version);

/// Keeps this thread's number of exceptions in flight. A plugin with a C++ library of its own counts its throw there;
/// the catch is counted here.
class KeepsExceptionCount {
 public:
  KeepsExceptionCount() : count_(std::uncaught_exceptions()) {}
  ~KeepsExceptionCount();
  KeepsExceptionCount(const KeepsExceptionCount&) = delete;
  KeepsExceptionCount& operator=(const KeepsExceptionCount&) = delete;

 private:
  int count_;
};

/// Calls a plugin's function: "", or what it threw. Memory that ended is no property of the plugin, and thrown on.
template <class Call>
std::string thrown_by(const char* function, Call&& call) {
  bool exhausted = false;
  std::array<char, 256> what{};
  {
    const KeepsExceptionCount keep;  // so that nothing here may throw
    try {
      call();
      return "";
    } catch (const std::bad_alloc&) {
      exhausted = true;
    } catch (const std::exception& e) {
      if (e.what() != nullptr) std::strncpy(what.data(), e.what(), what.size() - 1);
    } catch (...) {
      std::strncpy(what.data(), "one of unknown type", what.size() - 1);
    }
  }
  if (exhausted) throw std::bad_alloc();
  return std::string(function) + " threw an exception: " + what.data();
}

/// Calls a plugin's function that reports through an error: "", or what it threw or reported. Throws where it reports
/// that memory ended.
template <class Call>
std::string failure_of(const char* function, Call&& call) {
  std::array<char, kMostTextLength> message{};
  tessera_error error{sizeof(tessera_error), TESSERA_OK, 0, message.data(), message.size()};
  tessera_status status = TESSERA_OK;
  if (std::string thrown = thrown_by(function, [&] { status = call(&error); }); !thrown.empty()) return thrown;
  if (status == TESSERA_OK) return "";
  std::string text(message.data(), strnlen(message.data(), message.size()));
  if (status == TESSERA_OUT_OF_MEMORY) throw plugin::Error(status, text);
  return text.empty() ? "it gave no reason" : text;
}

}  // namespace tessera::core
