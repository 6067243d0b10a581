// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Pieces as messages of NCCL, for ranks of several processes.
#pragma once

#include "carrier.hpp"
#include "nccl.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::distributed {

class NcclMessages : public Carrier {
 public:
  NcclMessages(std::shared_ptr<Nccl> nccl, int rank, tessera_context* context, tessera_context* copier);

  std::string name() const override { return "NCCL"; }
  void expect(std::vector<Messages> all, std::int64_t element) override;
  void begin(const std::array<const void*, kFactors>& arrays, Attempts& attempts) override;
  void queue(std::size_t product, const std::array<void*, kFactors>& gathered) override;
  void finish() override {}
  void leave() noexcept override {}

 private:
  struct Arrivals {
    std::vector<Nccl::Part> parts;
    std::vector<Lines> copies;
  };
  std::vector<Nccl::Part> pack(const std::vector<Message>& messages) const;
  Arrivals arrivals(const std::vector<Message>& messages, const std::array<void*, kFactors>& gathered) const;

  std::shared_ptr<Nccl> nccl_;
  int rank_;
  tessera_context *context_, *copier_;
  void *device_, *stream_;  ///< the copier's
  std::vector<Messages> all_;
  std::int64_t element_ = 0;
  BufferHandle packed_sent_, packed_received_;
  std::array<const void*, kFactors> arrays_{};
};

}  // namespace tessera::distributed
