// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "platform.hpp"

namespace tessera::perf {

/// Version, commit, processor and clocks: what a figure means nothing without.
Facts machine_facts();

}  // namespace tessera::perf
