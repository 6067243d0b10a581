// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What an exchange of halos takes: between devices of one host by NCCL, and between processes of one host.
#pragma once

namespace tessera::distributed {

/// Seconds until an exchange has begun to move.
inline double latency(bool on_host) { return on_host ? 20e-6 : 12e-6; }
/// Seconds of an exchange of so many bytes.
inline double halo_seconds(bool on_host, double bytes) { return latency(on_host) + bytes / (on_host ? 3e9 : 150e9); }

}  // namespace tessera::distributed
