// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "guarded.hpp"
#include "png_image.hpp"

#include <string>
#include <utility>

namespace tessera::png {
namespace {

class Writer {
 public:
  explicit Writer(const std::filesystem::path& name)
      : name_(name),
        png_(png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning, &failure_, take_memory,
                                       give_memory)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ != nullptr) return;
    png_destroy_write_struct(&png_, &info_);
    throw std::bad_alloc();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png_, &info_); }

  std::vector<std::byte> encode(const Image& image) {
    constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    const std::size_t row_bytes = std::size_t(image.width) * std::size_t(image.channels) * size_of(image.stored);
    const bool done = guarded(png_, [&] {
      png_set_write_fn(png_, this, put_bytes, nullptr);
      png_set_IHDR(png_, info_, png_uint_32(image.width), png_uint_32(image.height), int(8 * size_of(image.stored)),
                   kColours[image.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                   PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png_, info_);
      if (image.stored == npy::Stored::u16) png_set_swap(png_);
      for (std::int64_t y = 0; y < image.height; ++y)
        png_write_row(png_, reinterpret_cast<png_const_bytep>(image.samples.data()) + row_bytes * std::size_t(y));
      png_write_end(png_, info_);
    });
    if (failure_.out_of_memory) throw std::bad_alloc();
    if (!done) throw npy::Error(name_, std::string("cannot be written as a PNG image: ") + failure_.message);
    return std::move(contents_);
  }

 private:
  static void put_bytes(png_structp png, png_bytep bytes, std::size_t count) {
    Writer& self = *static_cast<Writer*>(png_get_io_ptr(png));
    const std::byte* const from = reinterpret_cast<const std::byte*>(bytes);
    try {
      self.contents_.insert(self.contents_.end(), from, from + count);
      return;
    } catch (const std::bad_alloc&) {
      self.failure_.out_of_memory = true;
    }
    png_error(png, "out of memory");
  }

  const std::filesystem::path& name_;
  Failure failure_;
  std::vector<std::byte> contents_;
  png_structp png_;
  png_infop info_ = nullptr;
};

}  // namespace

std::vector<std::byte> encode(const std::filesystem::path& file, const Image& image) {
  return Writer(file).encode(image);
}

}  // namespace tessera::png
