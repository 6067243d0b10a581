// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "fields.hpp"

#include "png_image.hpp"

#include <tessera/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace tessera::cli {
namespace {

/// Copies items of some bytes so that the inner of two axes becomes the outer one.
void exchange(std::span<const std::byte> from, std::byte* to, std::int64_t outer, std::int64_t inner,
              std::size_t item) {
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t j = 0; j < inner; ++j)
      std::memcpy(to + std::size_t(j * outer + i) * item, from.data() + std::size_t(i * inner + j) * item, item);
}

Fields fields_of(const std::filesystem::path& file, const png::Image& image, std::optional<DType> dtype) {
  if (dtype && npy::is_narrow(*dtype))
    throw npy::Error(file, std::string("is an image, whose samples ") + name_of(*dtype) +
                               " does not hold exactly: compute in f32 or f64 (--dtype f32)");
  Fields fields{.array = {}, .channels = image.channels, .is_image = true, .has_alpha = image.has_alpha()};
  npy::Array& array = fields.array;
  array.file = file;
  array.stored = image.stored;
  array.dtype = dtype.value_or(npy::computing_type(image.stored));
  array.shape = {image.height, image.width};
  array.size = image.channels * image.height * image.width;
  auto numbers = std::make_unique_for_overwrite<std::byte[]>(image.samples.size());
  exchange(image.samples, numbers.get(), image.height * image.width, image.channels, size_of(image.stored));
  array.bytes = to_elements(file, std::move(numbers), array.size, array.stored, false, array.dtype);
  return fields;
}

/// Whether a PNG image may have such samples.
bool has_grey_levels(npy::Stored stored) { return stored == npy::Stored::u8 || stored == npy::Stored::u16; }

void check_image(const Target& target, const Fields& input) {
  const std::filesystem::path& file = target.file;
  if (!png::available()) png::encode(file, {});  // says why it cannot be done
  const std::vector<std::int64_t>& shape = input.array.shape;
  if (shape.size() != 2)
    throw npy::Error(file, "a PNG image has 2 axes; the result is " + input.describe() + ": write a .npy file");
  if (shape[0] * shape[1] > png::kMaxPixels)
    throw npy::Error(
        file, "a PNG image has up to 2^28 pixels here; the result is " + input.describe() + ": write a .npy file");
  if (!has_grey_levels(target.stored))
    throw npy::Error(file, std::string("a PNG image holds u8 or u16; the result is ") + name_of(target.stored) +
                               ": --output-type u8 rounds it and clamps it to 0..255, --rescale maps its range to "
                               "that");
}

/// Where the least and the largest number go that are rescaled.
std::pair<double, double> full_range(npy::Stored stored) {
  if (npy::is_floating(stored)) return {0.0, 1.0};
  const bool is_signed = stored == npy::Stored::i8 || stored == npy::Stored::i16;
  const double count = std::ldexp(1.0, int(8 * size_of(stored)));
  return {is_signed ? -count / 2 : 0.0, is_signed ? count / 2 - 1 : count - 1};
}

/// The least and the largest of the numbers.
template <Element T>
std::pair<double, double> range_of(std::span<const T> numbers) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const T element : numbers) {
    const auto number = npy::number_of(element);
    low = std::min(low, number), high = std::max(high, number);
  }
  return {low, high};
}

/// Straight from the range low..high to that of the type; all are its least number where there is no range.
template <Element T>
std::vector<double> rescaled(const Target& target, std::span<const T> numbers, double low, double high) {
  const auto [least, most] = full_range(target.stored);
  // Halves, since the difference may be beyond the largest number.
  const double half_range = high / 2 - low / 2;
  std::vector<double> result;
  result.reserve(numbers.size());
  for (const T element : numbers) {
    const auto number = npy::number_of(element);
    if (!std::isfinite(number))
      throw npy::Error(target.file, "result " + std::to_string(result.size()) + " is " + std::to_string(number) +
                                        ": --rescale maps finite numbers alone");
    const double share = half_range > 0.0 ? (number / 2 - low / 2) / half_range : 0.0;
    result.push_back(least + share * (most - least));
  }
  return result;
}

/// "209..1014.5".
std::string range_text(double low, double high) {
  return tessera::detail::text_of(low) + ".." + tessera::detail::text_of(high);
}

/// What alpha is multiplied by, since it is a share of the type's largest number: 257 from u8 to u16, 1 / 257 back. Any
/// other type takes it as the number it is.
double alpha_scale(const Fields& input, const Target& target) {
  const npy::Stored from = input.array.stored, to = target.stored;
  return has_grey_levels(from) && has_grey_levels(to) ? full_range(to).second / full_range(from).second : 1.0;
}

/// What became of the numbers on the way, a line; empty where elements were read and are written as they are.
std::string said_of(const Fields& input, const Target& target, double low, double high, std::int64_t clamped) {
  const npy::Array& array = input.array;
  const npy::Stored elements = npy::stored_of(array.dtype);
  const bool as_it_is = array.stored == elements && target.stored == elements && elements != npy::Stored::bf16;
  if (!input.is_image && as_it_is && !target.rescale) return "";
  std::string text = "read as " + input.describe() + ", computed in " +
                     (npy::is_narrow(array.dtype) ? "f32 and rounded to " : "") + name_of(elements) + ", written as " +
                     npy::file_name_of(target.stored);
  const auto [least, most] = full_range(target.stored);
  const std::string range = range_text(low, high);
  if (target.rescale)
    text += ": " + range + " mapped to " + range_text(least, most);
  else if (!npy::is_floating(target.stored))
    text += ": rounded, " + std::to_string(clamped) + " of " + std::to_string(array.size) + " clamped to " +
            npy::range_of(target.stored);
  if (input.has_alpha) text += "; alpha is kept";
  if (input.has_alpha && alpha_scale(input, target) != 1.0) text += ", scaled to " + npy::range_of(target.stored);
  text += "\n";
  // One sees nothing, though there is something.
  if (target.is_image && !target.rescale && low < high && high < most / 16)
    text += "the image is almost black: it has " + range + " of " + npy::range_of(target.stored) +
            ", to which --rescale maps it\n";
  return text;
}

}  // namespace

std::string Fields::describe() const {
  if (!is_image) return array.describe();
  const std::int64_t colours = channels - (has_alpha ? 1 : 0);
  return std::to_string(array.shape[0]) + " x " + std::to_string(array.shape[1]) + " " + name_of(array.stored) + ", " +
         std::to_string(colours) + (colours == 1 ? " channel" : " channels") + (has_alpha ? " and alpha" : "");
}

Fields read_fields(const std::filesystem::path& file, std::optional<DType> dtype) {
  if (png::is_png(file)) return fields_of(file, png::read(file), dtype);
  if (!npy::is_npy(file))
    throw npy::Error(file, "is neither a .npy file nor a PNG image, whatever its name: it begins like neither");
  return {.array = npy::read(file, dtype)};
}

Target target_of(const std::filesystem::path& file, const Fields& input, std::optional<npy::Stored> stored,
                 bool rescale) {
  Target target{file, stored.value_or(input.array.stored), file.extension() == ".png", rescale};
  if (target.is_image && rescale && !stored && !has_grey_levels(target.stored)) target.stored = npy::Stored::u8;
  if (rescale && !npy::is_floating(target.stored) &&
      (size_of(target.stored) > 2 || target.stored == npy::Stored::boolean))
    throw npy::Error(file, std::string("--rescale maps to integers of 8 or 16 bits or to 0..1 in floating point; the "
                                       "result is ") +
                               name_of(target.stored) + ": give one by --output-type");
  if (target.is_image) check_image(target, input);
  return target;
}

template <Element T>
std::string write_fields(npy::OutputFile& output, const Target& target, const Fields& input,
                         std::span<const T> results) {
  const T* const in = input.array.data<T>();
  std::vector<double> alpha;
  for (const T element : std::span(in + results.size(), in + input.array.size))
    alpha.push_back(npy::number_of(element) * alpha_scale(input, target));
  const auto [low, high] = range_of(results);
  npy::Numbers numbers =
      target.rescale
          ? to_numbers(target.file, std::span<const double>(rescaled(target, results, low, high)), target.stored)
          : to_numbers(target.file, results, target.stored);
  const npy::Numbers kept = to_numbers(target.file, std::span<const double>(alpha), target.stored);
  numbers.bytes.insert(numbers.bytes.end(), kept.bytes.begin(), kept.bytes.end());
  if (input.channels > 1) {
    std::vector<std::byte> pixels(numbers.bytes.size());
    exchange(numbers.bytes, pixels.data(), input.channels, input.size(), size_of(target.stored));
    numbers.bytes = std::move(pixels);
  }
  std::vector<std::int64_t> shape = input.array.shape;
  if (target.is_image) {
    output.write_contents(
        png::encode(target.file, {shape[0], shape[1], int(input.channels), target.stored, std::move(numbers.bytes)}));
  } else {
    if (input.channels > 1) shape.push_back(input.channels);
    output.write(numbers.bytes, target.stored, shape);
  }
  return said_of(input, target, low, high, numbers.clamped + kept.clamped);
}

template std::string write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const float>);
template std::string write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const double>);
template std::string write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const float16>);
template std::string write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const bfloat16>);

}  // namespace tessera::cli
