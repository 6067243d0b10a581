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

/// Whether a PNG image may have such samples.
bool has_grey_levels(npy::Stored stored) { return stored == npy::Stored::u8 || stored == npy::Stored::u16; }

bool has_few_bits(npy::Stored stored) {
  return has_grey_levels(stored) || stored == npy::Stored::i8 || stored == npy::Stored::i16;
}

void check_image(const Target& target, const Fields& input) {
  const std::filesystem::path& file = target.file;
  if (!png::available()) png::encode(file, {});  // says why it cannot be done
  const std::vector<std::int64_t> shape = input.shape();
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
    const auto number = double(npy::number_of(element));
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
    const auto number = double(npy::number_of(element));
    if (!std::isfinite(number))
      throw npy::Error(target.file, "result " + std::to_string(result.size()) + " is " + std::to_string(number) +
                                        ": --rescale maps finite numbers alone");
    const double share = half_range > 0.0 ? (number / 2 - low / 2) / half_range : 0.0;
    result.push_back(least + share * (most - least));
  }
  return result;
}

/// Whether one sees nothing on an image though there is something.
bool is_dark(const Target& target, const Written& written) {
  constexpr double kShare = 1.0 / 16;
  return target.is_image && !target.rescale && written.high > written.low &&
         written.high < kShare * full_range(target.stored).second;
}

/// "209..1014.5".
std::string range_text(double low, double high) {
  return tessera::detail::text_of(low) + ".." + tessera::detail::text_of(high);
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

Target target_of(const std::filesystem::path& file, const Fields& input, std::optional<npy::Stored> stored,
                 bool rescale) {
  Target target{file, stored.value_or(input.array.stored), file.extension() == ".png", rescale};
  if (target.is_image && rescale && !stored && !has_grey_levels(target.stored)) target.stored = npy::Stored::u8;
  if (rescale && !npy::is_floating(target.stored) && !has_few_bits(target.stored))
    throw npy::Error(file, std::string("--rescale maps to integers of 8 or 16 bits or to 0..1 in floating point; the "
                                       "result is ") +
                               name_of(target.stored) + ": give one by --output-type");
  if (target.is_image) check_image(target, input);
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
Written write_fields(npy::OutputFile& output, const Target& target, const Fields& input, std::span<const T> results) {
  const std::size_t computed = std::size_t(input.computed() * input.size());
  const auto [low, high] = range_of(results.first(computed));
  npy::Numbers numbers, alpha;
  if (target.rescale) {
    const std::vector<double> scaled = rescaled(target, results.first(computed), low, high);
    numbers = to_numbers(target.file, std::span<const double>(scaled), target.stored);
  } else {
    numbers = to_numbers(target.file, results.first(computed), target.stored);
  }
  alpha = to_numbers(target.file, results.subspan(computed), target.stored);
  numbers.bytes.insert(numbers.bytes.end(), alpha.bytes.begin(), alpha.bytes.end());
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
  return {low, high, numbers.clamped + alpha.clamped};
}

template Written write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const float>);
template Written write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const double>);
template Written write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const float16>);
template Written write_fields(npy::OutputFile&, const Target&, const Fields&, std::span<const bfloat16>);

std::string said_of(const Fields& input, const Target& target, const Written& written) {
  const npy::Array& array = input.array;
  const npy::Stored elements = npy::stored_of(array.dtype);
  const bool as_it_is = array.stored == elements && target.stored == elements && elements != npy::Stored::bf16;
  if (!input.is_image && as_it_is && !target.rescale) return "";
  std::string text = "read as " + input.describe() + ", computed in " +
                     (npy::is_narrow(array.dtype) ? "f32 and rounded to " : "") + name_of(elements) + ", written as " +
                     npy::file_name_of(target.stored);
  const auto [least, most] = full_range(target.stored);
  const std::string range = range_text(written.low, written.high);
  if (target.rescale)
    text += ": " + range + " mapped to " + range_text(least, most);
  else if (!npy::is_floating(target.stored))
    text += ": rounded, " + std::to_string(written.clamped) + " of " + std::to_string(array.size) + " clamped to " +
            npy::range_of(target.stored);
  if (input.has_alpha) text += "; alpha is kept";
  if (input.has_alpha && alpha_scale(input, target) != 1.0) text += ", scaled to " + npy::range_of(target.stored);
  text += "\n";
  if (is_dark(target, written))
    text += "the image is almost black: it has " + range + " of " + npy::range_of(target.stored) +
            ", to which --rescale maps it\n";
  return text;
}

}  // namespace tessera::cli
