// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "foreign_boundary.hpp"
#include "spec.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <system_error>

namespace tessera::cli {
namespace {

/// Whether all of `text` is a number that `Value` can hold.
template <class Value>
bool read(const std::string& text, Value& value) {
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && behind == end;
}

[[noreturn]] void fail(const std::string& what, const std::string& text, const std::string& is_not) {
  throw std::invalid_argument(what + ": '" + npy::clip(text) + "' is not " + is_not);
}

std::vector<std::int64_t> parse_sizes(const std::string& text, const std::string& what, std::size_t most,
                                      const std::string& grammar) {
  std::vector<std::int64_t> sizes;
  const std::vector<std::string> parts = split(text, 'x');
  for (const std::string& part : parts) {
    if (part.empty() || parts.size() > most) fail(what, text, "a size: expected " + grammar);
    sizes.push_back(parse_count(part, what + ": a size of '" + npy::clip(text) + "', which is " + grammar));
  }
  return sizes;
}

/// A constant side without a value of its own takes the one that is given for such sides, and says so.
BoundarySide parse_side(const std::string& text, double value, bool& taken) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string whole = "boundary '" + npy::clip(text) + "'";
  for (const Boundary mode : kBoundaries) {
    if (mode == Boundary::halo || parts[0] != name_of(mode)) continue;  // a file holds no ghost points
    if (parts.size() == 1) {
      if (mode != Boundary::constant) return {mode, 0.0};
      taken = true;
      return {mode, value};
    }
    if (parts.size() == 2 && mode == Boundary::constant) return {mode, parse_number(parts[1], whole)};
    throw std::invalid_argument(whole + ": only constant takes a value, as in constant:20");
  }
  const bool halo = parts[0] == name_of(Boundary::halo);
  throw std::invalid_argument(whole + " is unknown" +
                              (halo ? ": a file holds no ghost points" : foreign_boundary(parts[0])) +
                              "; there are fixed, constant, periodic, nearest, reflect "
                              "and mirror, and LOW/HIGH where the sides differ");
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

double parse_number(const std::string& text, const std::string& what) {
  double value = 0.0;
  if (!read(text, value) || !std::isfinite(value)) fail(what, text, "a finite number in the range of double");
  return value;
}

std::int64_t parse_count(const std::string& text, const std::string& what) {
  std::int64_t value = 0;
  if (!read(text, value) || value < 0) fail(what, text, "a whole number from 0 to 2^63 - 1");
  return value;
}

std::string element_names() {
  return npy::joined(kDTypes, ", ", [](DType dtype) { return name_of(dtype); });
}

npy::Stored parse_stored_type(const std::string& text, const std::string& what) {
  const std::optional<npy::Stored> type = npy::stored_named(text);
  if (!type) fail(what, text, "a type; there are " + npy::stored_names());
  return *type;
}

DType parse_element_type(const std::string& text, const std::string& what) {
  for (const DType dtype : kDTypes)
    if (text == name_of(dtype)) return dtype;
  fail(what, text, "a type; there are " + element_names());
}

double fitting(const std::string& what, double value, DType dtype) {
  const bool fits = with_types(
      dtype, [value]<class T>(std::type_identity<T>) { return std::isfinite(npy::number_of(npy::nearest<T>(value))); });
  if (fits) return value;
  throw std::invalid_argument(what + " = " + tessera::detail::text_of(value) + ": must be finite when rounded to " +
                              name_of(dtype));
}

std::vector<std::int64_t> parse_origin(const std::string& text, const std::string& what) {
  std::vector<std::int64_t> origin;
  for (const std::string& part : split(text, ','))
    if (!read(part, origin.emplace_back())) fail(what, part, "a whole number from -2^63 to 2^63 - 1");
  return origin;
}

std::vector<BoundaryAxis> parse_boundaries(const std::string& text, std::optional<double> value) {
  std::vector<BoundaryAxis> axes;
  bool taken = false;
  for (const std::string& axis : split(text, ',')) {
    const std::vector<std::string> sides = split(axis, '/');
    if (sides.size() > 2)
      throw std::invalid_argument("boundary '" + npy::clip(axis) + "': an axis has two sides, LOW/HIGH");
    axes.emplace_back(parse_side(sides.front(), value.value_or(0.0), taken),
                      parse_side(sides.back(), value.value_or(0.0), taken));
  }
  if (value && !taken)
    throw std::invalid_argument(
        "--value is for constant sides that have no value of their own, as in --boundary constant; boundary '" +
        npy::clip(text) + "' has none");
  return axes;
}

std::vector<std::int64_t> parse_product_size(const std::string& text, const std::string& what) {
  const std::string grammar = "N, MxNxK or MxNxKxBATCH, as in 512x32000x4096";
  std::vector<std::int64_t> sizes = parse_sizes(text, what, 4, grammar);
  if (sizes.size() == 2)
    throw std::invalid_argument(what + ": '" + npy::clip(text) + "' has two sizes: expected " + grammar);
  if (sizes.size() == 1) sizes.assign(3, sizes.front());
  if (sizes.size() == 3) sizes.push_back(1);
  return sizes;
}

std::vector<std::int64_t> parse_extents(const std::string& text, const std::string& what) {
  return parse_sizes(text, what, TESSERA_MAX_RANK, "N, NxN or NxNxN, as in 512x512x512");
}

}  // namespace tessera::cli
