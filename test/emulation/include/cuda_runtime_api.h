// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Of CUDA's runtime what headers of kernels name.
#pragma once

using cudaStream_t = void*;
