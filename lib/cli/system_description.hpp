// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Systems of fields as a JSON file describes them.
#pragma once

#include <tessera/system.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::cli {

struct JsonValue;

/// A field as it is described.
struct DescribedField {
  std::string name;
  tessera_field_kind kind;
  int axis;  ///< of a profile
  FieldOptions options;

  bool is_state() const { return kind == TESSERA_FIELD_STATE; }
  int levels() const { return is_state() ? options.levels : 1; }
};

/// A description, of which what hangs on the extents is read when they are known. Throws npy::Error, which begins with
/// the file and the place in it.
class SystemDescription {
 public:
  explicit SystemDescription(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }
  DType dtype() const { return dtype_; }
  /// Empty where the file leaves them to the arrays.
  const Integers& extents() const { return extents_; }
  const std::vector<DescribedField>& fields() const { return fields_; }
  DType dtype_of(const DescribedField& field) const { return field.options.dtype.value_or(dtype_); }
  /// The field's place in the list. Throws npy::Error that names those there are.
  std::size_t place_of(std::string_view name) const;

  StencilSystem make(const Integers& extents) const;

 private:
  std::filesystem::path file_;
  std::shared_ptr<const JsonValue> json_;
  DType dtype_ = DType::f32;
  Integers extents_;
  std::vector<DescribedField> fields_;
};

}  // namespace tessera::cli
