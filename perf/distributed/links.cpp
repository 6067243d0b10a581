// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What messages between two ranks take, which the model of perf/report/scaling.py begins with.

#include "station.hpp"

namespace tessera::perf {

void run_links(const Station& station) {
  if (station.group.size() < 2) return;
  if (station.memory() == Memory::device && station.device_peers == nullptr)
    return station.leave_out("distributed/exchange", station.no_device_peers);
  const bool on_devices = station.device_peers != nullptr;
  const std::string by = on_devices ? "nccl" : "host";
  const int peer = station.group.rank() == 0 ? 1 : 0;
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{512} << 10,
                                  std::size_t{4} << 20, std::size_t{16} << 20, std::size_t{64} << 20}) {
    std::shared_ptr<void> sent, received;
    together(station.group, [&] {
      sent = station.allocate(bytes), received = station.allocate(bytes);
      station.device->poison(sent.get(), bytes), station.device->poison(received.get(), bytes);
    });
    std::function<void()> execute;
    if (station.group.rank() < 2)
      execute = [&] {
        if (on_devices)
          station.device_peers->exchange(sent.get(), received.get(), bytes, peer);
        else
          station.group.exchange(sent.get(), received.get(), bytes, peer);
      };
    contest(station, "distributed/exchange_" + std::to_string(bytes) + "/f32/cold",
            {{"ceiling:" + by, execute, double(bytes), 0.0, "GB/s each way", {{"bytes", double(bytes)}}}});
  }
}

}  // namespace tessera::perf
