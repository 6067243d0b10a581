// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Copies of threads of an emulated device.
#pragma once

#include "bulk_copy.cuh"
