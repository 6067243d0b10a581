// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The arrays that a system is stepped from.
#pragma once

#include "npy.hpp"
#include "system_arguments.hpp"
#include "system_description.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::cli {

/// What a command line gives for an array of zeros.
inline constexpr char kZeros[] = "zeros";

/// For each field its levels, the newest first, in C order and of the field's type.
struct SystemArrays {
  Integers extents;
  std::vector<std::vector<npy::Array>> levels;
  std::string said;  ///< of arrays that are not kept as they lie in their files, a line each
};

/// Reads the files. Throws npy::Error where a level has none, a shape is not the system's, and as npy::read_numbers().
SystemArrays read_arrays(const SystemDescription& description, const std::vector<NamedFile>& inputs);

/// Reads the series of an injection: rows x width, or rows where that is 1. `name` is what messages say takes it.
/// Throws npy::Error, also where there are fewer than `steps` rows from the first one on.
npy::Array read_series(const std::string& file, DType dtype, const std::string& name, std::int64_t width,
                       std::int64_t first, std::int64_t steps);

}  // namespace tessera::cli
