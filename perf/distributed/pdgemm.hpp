// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "station.hpp"

#include <mpi.h>

#include <memory>

namespace tessera::perf {

/// ScaLAPACK over all processes of MPI_COMM_WORLD.
std::unique_ptr<ProductPeer> make_pdgemm();

}  // namespace tessera::perf
