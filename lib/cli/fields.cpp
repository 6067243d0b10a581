// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "fields.hpp"

#include "png_image.hpp"

#include <cstring>
#include <utility>

namespace tessera::cli {
namespace {

/// Copies items of some bytes so that the inner of two axes becomes the outer one.
std::vector<std::byte> exchanged(std::span<const std::byte> from, std::int64_t outer, std::int64_t inner,
                                 std::size_t item) {
  std::vector<std::byte> to(from.size());
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t j = 0; j < inner; ++j)
      std::memcpy(to.data() + std::size_t(j * outer + i) * item, from.data() + std::size_t(i * inner + j) * item, item);
  return to;
}

Fields fields_of(const std::filesystem::path& file, const png::Image& image, std::optional<DType> dtype) {
  if (dtype && npy::is_narrow(*dtype))
    throw npy::Error(file, std::string("is an image, whose samples ") + name_of(*dtype) +
                               " does not hold exactly: compute in f32 or f64 (--dtype f32)");
  Fields fields;
  fields.is_image = true;
  fields.has_alpha = image.has_alpha();
  npy::Array& array = fields.array;
  array.file = file;
  array.stored = image.stored;
  array.dtype = dtype.value_or(npy::computing_type(image.stored));
  array.shape = {image.channels, image.height, image.width};
  array.size = image.channels * image.height * image.width;
  const std::vector<std::byte> planes =
      exchanged(image.samples, image.height * image.width, image.channels, size_of(image.stored));
  auto numbers = std::make_unique_for_overwrite<std::byte[]>(planes.size());
  std::memcpy(numbers.get(), planes.data(), planes.size());
  array.bytes = to_elements(file, std::move(numbers), array.size, array.stored, false, array.dtype);
  return fields;
}

}  // namespace

std::vector<std::int64_t> Fields::shape() const {
  return {array.shape.begin() + (is_image ? 1 : 0), array.shape.end()};
}

std::vector<std::int64_t> Fields::strides() const {
  const std::vector<std::int64_t> all = array.strides();
  return {all.begin() + (is_image ? 1 : 0), all.end()};
}

std::string Fields::describe() const {
  if (!is_image) return array.describe();
  const std::int64_t channels = computed();
  return std::to_string(array.shape[1]) + " x " + std::to_string(array.shape[2]) + " " + name_of(array.stored) + ", " +
         std::to_string(channels) + (channels == 1 ? " channel" : " channels") + (has_alpha ? " and alpha" : "");
}

Fields read_fields(const std::filesystem::path& file, std::optional<DType> dtype) {
  if (png::is_png(file)) return fields_of(file, png::read(file), dtype);
  if (!npy::is_npy(file))
    throw npy::Error(file, "is neither a .npy file nor a PNG image, whatever its name: it begins like neither");
  return {.array = npy::read_numbers(file, dtype)};
}

Target target_of(const std::filesystem::path& file, const Fields& input, std::optional<npy::Stored> stored) {
  const Target target{file, stored.value_or(input.array.stored), file.extension() == ".png"};
  if (!target.is_image) return target;
  if (!png::available()) png::encode(file, {});  // says why it cannot be done
  const std::vector<std::int64_t> shape = input.shape();
  if (shape.size() != 2)
    throw npy::Error(file, "a PNG image has 2 axes; the result is " + input.describe() + ": write a .npy file");
  if (shape[0] * shape[1] > png::kMaxPixels)
    throw npy::Error(
        file, "a PNG image has up to 2^28 pixels here; the result is " + input.describe() + ": write a .npy file");
  if (target.stored != npy::Stored::u8 && target.stored != npy::Stored::u16)
    throw npy::Error(file, std::string("a PNG image holds u8 or u16; the result is ") + name_of(target.stored) +
                               ": --output-type u8 rounds it and clamps it to 0..255");
  return target;
}

double alpha_scale(const Fields& input, const Target& target) {
  constexpr double kScale = 65535.0 / 255.0;
  const npy::Stored from = input.array.stored, to = target.stored;
  if (from == npy::Stored::u8 && to == npy::Stored::u16) return kScale;
  if (from == npy::Stored::u16 && to == npy::Stored::u8) return 1.0 / kScale;
  return 1.0;
}

template <Element T>
std::int64_t write_fields(npy::OutputFile& output, const Target& target, const Fields& input,
                          std::span<const T> results) {
  npy::Numbers numbers = to_numbers(target.file, results, target.stored);
  std::vector<std::int64_t> shape = input.shape();
  if (input.count() > 1) {
    numbers.bytes = exchanged(numbers.bytes, input.count(), input.size(), size_of(target.stored));
    if (!target.is_image) shape.push_back(input.count());
  }
  if (target.is_image)
    output.write_contents(
        png::encode(target.file, {shape[0], shape[1], int(input.count()), target.stored, std::move(numbers.bytes)}));
  else
    output.write(numbers.bytes, target.stored, shape);
  return numbers.clamped;
}

template std::int64_t write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const float>);
template std::int64_t write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const double>);
template std::int64_t write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const float16>);
template std::int64_t write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const bfloat16>);

std::string said_of(const Fields& input, const Target& target, std::int64_t clamped) {
  const npy::Array& array = input.array;
  const npy::Stored elements = npy::stored_of(array.dtype);
  const bool as_it_is = array.stored == elements && target.stored == elements && elements != npy::Stored::bf16;
  if (!input.is_image && as_it_is) return "";
  std::string text = "read as " + input.describe() + ", computed in " +
                     (npy::is_narrow(array.dtype) ? "f32 and rounded to " : "") + name_of(elements) + ", written as " +
                     npy::file_name_of(target.stored);
  if (!npy::is_floating(target.stored))
    text += ": rounded, " + std::to_string(clamped) + " of " + std::to_string(array.size) + " clamped to " +
            range_of(target.stored);
  if (input.has_alpha) text += "; alpha is kept";
  if (input.has_alpha && alpha_scale(input, target) != 1.0) text += ", scaled to " + range_of(target.stored);
  return text + "\n";
}

}  // namespace tessera::cli
