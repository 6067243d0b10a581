// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_arrays.hpp"

#include "clip.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace tessera::cli {
namespace {

using Shape = std::vector<std::int64_t>;

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

/// The same array in C order.
npy::Array in_c_order(npy::Array array) {
  if (!array.fortran_order) return array;
  const std::size_t item = size_of(array.dtype), rank = array.shape.size();
  const Shape strides = array.strides();
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(std::size_t(array.size) * item);
  Shape at(rank, 0);
  for (std::int64_t i = 0; i < array.size; ++i) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) from += at[axis] * strides[axis];
    std::memcpy(bytes.get() + std::size_t(i) * item, array.bytes.get() + std::size_t(from) * item, item);
    for (std::size_t axis = rank; axis-- > 0 && ++at[axis] == array.shape[axis];) at[axis] = 0;
  }
  array.bytes = std::move(bytes);
  array.fortran_order = false;
  return array;
}

class Loader {
 public:
  explicit Loader(const SystemDescription& description) : description_(description) {
    for (const DescribedField& field : description.fields()) {
      result_.levels.emplace_back(std::size_t(field.levels()));
      given_.emplace_back(std::size_t(field.levels()));
    }
  }

  void take(const NamedFile& input) {
    const std::size_t place = description_.place_of(input.field);
    const DescribedField& field = description_.fields()[place];
    const int level = -input.level.value_or(0);
    if (level >= field.levels())
      fail("--field gives " + input.name() + ", but '" + field.name + "' has " +
           (field.levels() == 1 ? "1 level" : std::to_string(field.levels()) + " levels"));
    given_[place][std::size_t(level)] = input.file;
    if (input.file == kZeros) return;
    npy::Array& array = result_.levels[place][std::size_t(level)];
    array = in_c_order(npy::read_numbers(input.file, description_.dtype_of(field)));
    if (array.stored != npy::stored_of(array.dtype))
      result_.said += input.name() + ": read as " + array.describe() + ", kept as " + name_of(array.dtype) + "\n";
  }

  SystemArrays finish() {
    for (std::size_t i = 0; i < given_.size(); ++i) require_all(i);
    find_extents();
    for (std::size_t i = 0; i < given_.size(); ++i)
      for (npy::Array& array : result_.levels[i]) complete(description_.fields()[i], array);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const { throw npy::Error(description_.file(), why); }

  /// Each level has a file; "zeros" as the newest is for all that have none.
  void require_all(std::size_t place) {
    const DescribedField& field = description_.fields()[place];
    const std::string wanted = field.levels() == 1   ? "FILE"
                               : field.levels() == 2 ? "NOW,BEFORE"
                                                     : "NOW,BEFORE,BEFORE_THAT";
    const std::vector<std::string>& given = given_[place];
    for (std::size_t level = 0; level < given.size(); ++level)
      if (given[level].empty() && given.front() != kZeros)
        fail(NamedFile{field.name, -int(level), ""}.name() + " has no file: give --field " + field.name + "=" + wanted +
             ", or " + kZeros + " for a file");
  }

  void find_extents() {
    result_.extents = description_.extents();
    for (std::size_t i = 0; i < given_.size() && result_.extents.empty(); ++i) {
      if (description_.fields()[i].kind == TESSERA_FIELD_PROFILE) continue;
      for (const npy::Array& array : result_.levels[i])
        if (array.size > 0 && result_.extents.empty()) take_extents(array);
    }
    if (result_.extents.empty()) fail("has no \"extents\", and no state or array has a file that gives them");
    std::int64_t most = std::numeric_limits<std::int64_t>::max() / std::int64_t(sizeof(double));
    for (const std::int64_t extent : result_.extents) most /= extent;
    if (most == 0) fail("extents of " + text_of(result_.extents) + ": arrays must stay below 2^63 bytes");
  }
  void take_extents(const npy::Array& array) {
    if (array.shape.empty() || array.shape.size() > TESSERA_MAX_RANK)
      throw npy::Error(array.file, "holds an array of " + npy::axes_text(array.shape.size()) + " (" + array.describe() +
                                       "); a system has 1, 2 or 3");
    result_.extents = array.shape;
    origin_ = array.file;
  }

  /// Checks what was read, and makes what was not.
  void complete(const DescribedField& field, npy::Array& array) const {
    Shape wanted = result_.extents;
    if (field.kind == TESSERA_FIELD_PROFILE) {
      if (std::size_t(field.axis) >= wanted.size())
        fail("fields." + field.name + ".axis is " + std::to_string(field.axis) + "; the system has " +
             npy::axes_text(wanted.size()) + ", counted from 0");
      wanted = {wanted[std::size_t(field.axis)]};
    }
    if (array.size > 0 && array.shape != wanted)
      throw npy::Error(array.file, "holds " + array.describe() + "; '" + field.name + "' is " + text_of(wanted) +
                                       ", as " + npy::clip((origin_.empty() ? description_.file() : origin_).native()) +
                                       " says");
    if (array.size > 0) return;
    array.dtype = description_.dtype_of(field);
    array.shape = wanted;
    array.size = 1;
    for (const std::int64_t extent : wanted) array.size *= extent;
    array.bytes = std::make_unique<std::byte[]>(std::size_t(array.size) * size_of(array.dtype));
  }

  const SystemDescription& description_;
  SystemArrays result_;
  std::vector<std::vector<std::string>> given_;  ///< files
  std::filesystem::path origin_;                 ///< what gave the extents, unless the description did
};

}  // namespace

SystemArrays read_arrays(const SystemDescription& description, const std::vector<NamedFile>& inputs) {
  Loader loader(description);
  for (const NamedFile& input : inputs) loader.take(input);
  return loader.finish();
}

npy::Array read_series(const std::string& file, DType dtype, const std::string& name, std::int64_t width,
                       std::int64_t first, std::int64_t steps) {
  npy::Array array = in_c_order(npy::read_numbers(file, dtype));
  const bool fits = array.shape.size() == 2 ? array.shape[1] == width : array.shape.size() == 1 && width == 1;
  if (!fits)
    throw npy::Error(
        file, "holds " + array.describe() + "; " + name + " takes rows x " + std::to_string(width) + ", a row a step");
  const std::int64_t rows = array.shape[0];
  if (first > rows || rows - first < steps)
    throw npy::Error(file, "has " + std::to_string(rows) + " rows; " + std::to_string(steps) + " steps from row " +
                               std::to_string(first) + " on take more of " + name);
  return array;
}

}  // namespace tessera::cli
