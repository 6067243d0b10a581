// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A list that kernels read.
#pragma once

#include "../context.hpp"

#include <memory>
#include <vector>

namespace tessera::kokkos {

/// Filled when a plan is made. Moving it leaves the items where they are.
template <class Item>
class List {
 public:
  List() = default;
  List(Context& context, const std::vector<Item>& items) {
    if (!items.empty()) table_ = std::make_unique<Table>(context, items.data(), items.size() * sizeof(Item));
  }

  /// Null where there are none.
  const Item* data() const { return table_ == nullptr ? nullptr : table_->template as<const Item>(); }

 private:
  std::unique_ptr<Table> table_;
};

}  // namespace tessera::kokkos
