// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Who owns which part of the module's constant memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::cuda {

/// Values of shared_constant's parameter `bank`: taps in device memory, in the bank or an error, in the bank as long as
/// it has room.
inline constexpr std::int64_t kBankNever = 0, kBankAlways = 1, kBankIfRoom = 2;

/// Bytes of the one `__constant__` array that all plans of a device share.
inline constexpr std::size_t kConstantBankBytes = std::size_t(60) << 10;

/// A plan's own part of the bank: plans with different taps run at once, so none may write where
/// another reads. Parts are taken when a plan is made and given back when it is destroyed, by any thread.
class BankSlot {
 public:
  BankSlot() = default;  ///< holds nothing
  /// Takes `bytes` of the device's bank, or nothing where no part is as large.
  BankSlot(int device, std::size_t bytes);
  ~BankSlot();
  BankSlot(BankSlot&& other) noexcept;
  BankSlot& operator=(BankSlot&& other) noexcept;

  explicit operator bool() const { return pages_ > 0; }
  std::size_t offset() const;  ///< of the part's first byte in the bank, a multiple of 256

 private:
  int device_ = 0;
  std::size_t first_ = 0, pages_ = 0;
};

}  // namespace tessera::cuda
