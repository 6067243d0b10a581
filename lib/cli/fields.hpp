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
#include <vector>

namespace tessera::cli {

/// Fields of one shape: an array, or the channels of an image, one behind the other. The stencil is applied to each but
/// an image's alpha, which is kept.
struct Fields {
  npy::Array array;  ///< of an image: channels x height x width
  bool is_image = false;
  bool has_alpha = false;  ///< the last channel

  std::int64_t count() const { return is_image ? array.shape.front() : 1; }
  /// Those that the stencil is applied to.
  std::int64_t computed() const { return count() - (has_alpha ? 1 : 0); }
  /// Of one field.
  std::vector<std::int64_t> shape() const;
  std::vector<std::int64_t> strides() const;
  std::int64_t size() const { return array.size / count(); }
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

/// What alpha is multiplied by, since it is a share of the type's largest number: 257 from u8 to u16, 1 / 257 back. Any
/// other type takes it as the number it is.
double alpha_scale(const Fields& input, const Target& target);

/// The least and the largest of the numbers that were computed, and how many of them were clamped.
struct Written {
  double low, high;
  std::int64_t clamped;
};

/// Writes the results, laid out as the input's array but in C order. An image becomes a .npy file of height x width or
/// height x width x channels. Throws npy::Error, also where results that are to be rescaled are not all finite.
template <Element T>
Written write_fields(npy::OutputFile& output, const Target& target, const Fields& input, std::span<const T> results);

/// What became of the numbers on the way, a line; empty where elements were read and are written as they are.
std::string said_of(const Fields& input, const Target& target, const Written& written);

}  // namespace tessera::cli
