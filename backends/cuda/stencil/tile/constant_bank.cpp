// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "constant_bank.hpp"

#include <bitset>
#include <map>
#include <mutex>
#include <utility>

namespace tessera::cuda {
namespace {

/// A whole line of the constant caches, so that no two slots share one.
constexpr std::size_t kPageBytes = 256;
constexpr std::size_t kPages = kConstantBankBytes / kPageBytes;

struct Ledger {
  std::mutex mutex;
  std::map<int, std::bitset<kPages>> taken;  ///< by device: each has a bank of its own
};

/// Never destroyed: plans may outlive static objects.
Ledger& ledger() {
  static auto* instance = new Ledger;
  return *instance;
}

}  // namespace

BankSlot::BankSlot(int device, std::size_t bytes) : device_(device) {
  const std::size_t wanted = (bytes + kPageBytes - 1) / kPageBytes;
  const std::lock_guard lock(ledger().mutex);
  auto& taken = ledger().taken[device];
  std::size_t run = 0;
  for (std::size_t page = 0; page < kPages; ++page) {
    run = taken[page] ? 0 : run + 1;
    if (run < wanted) continue;
    first_ = page + 1 - wanted;
    pages_ = wanted;
    for (std::size_t i = first_; i <= page; ++i) taken[i] = true;
    return;
  }
}

BankSlot::~BankSlot() {
  if (pages_ == 0) return;
  const std::lock_guard lock(ledger().mutex);
  auto& taken = ledger().taken[device_];
  for (std::size_t i = first_; i < first_ + pages_; ++i) taken[i] = false;
}

BankSlot::BankSlot(BankSlot&& other) noexcept { *this = std::move(other); }

BankSlot& BankSlot::operator=(BankSlot&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(first_, other.first_);
  std::swap(pages_, other.pages_);
  return *this;
}

std::size_t BankSlot::offset() const { return first_ * kPageBytes; }

}  // namespace tessera::cuda
