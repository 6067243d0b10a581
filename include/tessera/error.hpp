// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The exception of the C++ API and the enumerations that name the C constants.
#pragma once

#include <tessera/tessera.h>
#include <tessera/dtype.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace tessera {

/// What kind of failure an Error is.
enum class ErrorCode : std::int32_t {
  invalid_argument = TESSERA_INVALID_ARGUMENT,
  unsupported = TESSERA_UNSUPPORTED,
  backend_unavailable = TESSERA_BACKEND_UNAVAILABLE,
  out_of_memory = TESSERA_OUT_OF_MEMORY,
  device_error = TESSERA_DEVICE_ERROR,
  internal = TESSERA_INTERNAL,
};

/// Thrown by everything here that can fail. what() names the argument, its value, the bound and the remedy. Where there
/// is no memory for that, std::bad_alloc is thrown instead.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Where operands live.
enum class Memory : std::int32_t { host = TESSERA_MEMORY_HOST, device = TESSERA_MEMORY_DEVICE };
/// The arithmetic that the caller accepts, see tessera_compute; a backend may compute better.
enum class Compute : std::int32_t {
  environment = TESSERA_COMPUTE_DEFAULT,  ///< what TESSERA_GEMM_COMPUTE says where the type has it, else strict
  strict = TESSERA_COMPUTE_STRICT,
  bf16x6 = TESSERA_COMPUTE_BF16X6,
  f16x3 = TESSERA_COMPUTE_F16X3,
  tf32 = TESSERA_COMPUTE_TF32
};

/// In which order taps, or products, are added: see tessera_sums.
enum class Sums : std::int32_t {
  any = TESSERA_SUMS_ANY,          ///< each algorithm has its own
  ordered = TESSERA_SUMS_ORDERED,  ///< the same bits whatever the algorithm, and the box or the row of a product
};

/// A distance in memory that the library derives from the sizes: no gaps.
inline constexpr std::int64_t kPacked = TESSERA_PACKED;

namespace detail {

/// "0.5", "-5e+199": as %g writes it, but with a point in any locale.
inline std::string text_of(double value) {
  std::array<char, 32> text{};
  constexpr int kDigits = 6;
  return {text.data(),
          std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, kDigits).ptr};
}

/// Room for a message that lists every plugin with the path of each that could not be loaded.
inline constexpr std::size_t kMessageCapacity = 8192;

/// Calls a C function with an error to fill and throws what it reports.
template <class Function, class... Arguments>
void call(Function&& function, Arguments&&... arguments) {
  std::array<char, kMessageCapacity> message;  // not cleared: `execute` passes here, too
  message[0] = '\0';
  tessera_error error{sizeof(tessera_error), TESSERA_OK, 0, message.data(), message.size()};
  const tessera_status status = function(arguments..., &error);
  if (status != TESSERA_OK) throw Error(static_cast<ErrorCode>(status), message.data());
}

/// What a C function shows its visitor, collected: an exception must not pass through C.
template <class Collection>
class Collected {
 public:
  /// For the visitor: `add` puts what is shown into the collection.
  template <class Add>
  static void take(void* data, Add&& add) noexcept {
    auto& self = *static_cast<Collected*>(data);
    try {
      add(self.collection_);
    } catch (...) {
      self.failure_ = std::current_exception();
    }
  }
  Collection get() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(collection_);
  }

 private:
  Collection collection_;
  std::exception_ptr failure_;
};

}  // namespace detail

}  // namespace tessera
