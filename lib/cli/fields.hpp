// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a stencil reads and writes: arrays in .npy files, and images.
#pragma once

#include "npy.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace tessera::cli {

/// Fields of one shape: an array, or the channels of an image, one behind the other. The stencil is applied to each but
/// an image's alpha, which is kept.
struct Fields {
  npy::Array array;  ///< of an image: the shape is that of a channel, the size that of all
  std::int64_t channels = 1;
  bool is_image = false;
  bool has_alpha = false;  ///< the last channel

  /// Of one field.
  std::int64_t size() const { return array.size / channels; }
  /// Of those that the stencil is applied to.
  std::int64_t computed_size() const { return array.size - (has_alpha ? size() : 0); }
  /// "344 x 403 <f4", "344 x 403 |u1, 3 channels and alpha".
  std::string describe() const;
};

/// Reads a .npy file or, where it begins as one, a PNG image. Elements are of `dtype` or, without one, of
/// npy::computing_type(). Throws npy::Error.
Fields read_fields(const std::filesystem::path& file, std::optional<DType> dtype);

/// How results are written.
struct Target {
  std::filesystem::path file;
  npy::Stored stored;  ///< as the input, unless told otherwise
  bool is_image;       ///< the file's name ends in .png
  bool rescale;        ///< the results' range is mapped to that of the type
};

/// Throws npy::Error where a PNG image cannot hold the results, or where they cannot be rescaled to the type. A
/// rescaled image has u8 unless told otherwise or read from one of u16.
Target target_of(const std::filesystem::path& file, const Fields& input, std::optional<npy::Stored> stored,
                 bool rescale);

/// Writes the results, of computed_size() and in C order, and the alpha of the input. An image becomes a .npy file of
/// height x width or height x width x channels. Throws npy::Error, also where results that are to be rescaled are not
/// all finite. Returns what became of the numbers on the way, a line; empty where elements were read and are written as
/// they are.
template <Element T>
std::string write_fields(npy::OutputFile& output, const Target& target, const Fields& input,
                         std::span<const T> results);

}  // namespace tessera::cli
