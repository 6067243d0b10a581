// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Host operands of a backend whose memory is its own: packed copies on the device.
#pragma once

#include "plan/context.hpp"
#include "problem/problem.hpp"

#include <memory>
#include <vector>

namespace tessera::core {

/// A copy of an operand between those layouts, without its pointers.
tessera_copy copy_between(const Layout& host, const Layout& device, std::int64_t element_size, int direction);

/// Device copies of a problem's operands. The plugin's plan is made for problem().
class Staging {
 public:
  Staging(const std::shared_ptr<Context>& context, const Problem& host_problem);

  const Problem& problem() const { return packed_; }
  /// Of the device's memory.
  std::uint64_t bytes() const;
  /// What the plugin's plan takes for an operand.
  void* device_pointer(std::size_t operand) const;
  void upload(std::size_t operand, const void* host);
  /// Whether it must be uploaded though nothing reads it: a triangle of D is written, all of it is downloaded.
  bool keeps(std::size_t operand) const;
  /// Complete on return; elements of the host array between those of the operand are left alone.
  void download(std::size_t operand, void* host);

 private:
  /// The operand in whose memory an operand is.
  std::size_t place(std::size_t operand) const;
  std::int64_t size_of(std::size_t operand) const;
  tessera_copy copy_of(std::size_t operand, int direction) const {
    return copy_between(host_[operand], packed_.operands[operand].layout, size_of(operand), direction);
  }

  std::shared_ptr<Context> context_;
  Problem packed_;
  std::vector<Layout> host_;
  std::vector<std::unique_ptr<DeviceMemory>> memory_;
};

}  // namespace tessera::core
