// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "png_image.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <png.h>

namespace tessera::png {
namespace {

/// Bytes that one byte of compressed data may stand for, at most: https://zlib.net/zlib_tech.html
constexpr std::uint64_t kMaxExpansion = 1032;

/// What reading and writing share. libpng reports errors by longjmp(), which no destructor may be in the way of.
class Codec {
 public:
  Codec(const std::filesystem::path& name, bool writes)
      : name_(name),
        writes_(writes),
        png_((writes ? png_create_write_struct_2 : png_create_read_struct_2)(
            PNG_LIBPNG_VER_STRING, this, on_error, on_warning, this, take_memory, give_memory)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ != nullptr) return;
    destroy();
    throw std::bad_alloc();
  }
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

 protected:
  ~Codec() { destroy(); }

  /// `body` calls libpng and has nothing to destroy. Throws npy::Error, "... <what>: <libpng's message>".
  template <class Body>
  void call(const char* what, Body&& body) {
    const bool done = guarded(body);
    if (failure_) std::rethrow_exception(failure_);
    if (out_of_memory_) throw std::bad_alloc();
    if (!done) throw npy::Error(name_, std::string(what) + ": " + message_);
  }
  /// Calls `body`, whose exception ends what libpng does.
  template <class Body>
  static void call_back(png_structp png, Body&& body) {
    try {
      body();
      return;
    } catch (...) {
      static_cast<Codec*>(png_get_error_ptr(png))->failure_ = std::current_exception();
    }
    png_error(png, "");
  }

  const std::filesystem::path& name_;

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    std::snprintf(static_cast<Codec*>(png_get_error_ptr(png))->message_, sizeof message_, "%s", message);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static png_voidp take_memory(png_structp png, png_alloc_size_t bytes) {
    void* const memory = ::operator new(bytes, std::nothrow);
    if (memory == nullptr) static_cast<Codec*>(png_get_mem_ptr(png))->out_of_memory_ = true;
    return memory;
  }
  static void give_memory(png_structp, png_voidp memory) { ::operator delete(memory); }

  template <class Body>
  bool guarded(Body&& body) {
    if (setjmp(png_jmpbuf(png_))) return false;
    body();
    return true;
  }
  void destroy() {
    writes_ ? png_destroy_write_struct(&png_, &info_) : png_destroy_read_struct(&png_, &info_, nullptr);
  }

  bool writes_, out_of_memory_ = false;
  char message_[200] = "";
  std::exception_ptr failure_;

 protected:
  png_structp png_;
  png_infop info_ = nullptr;
};

class Reader : private Codec {
 public:
  explicit Reader(const std::filesystem::path& name) : Codec(name, false), file_(name), bytes_(file_.left()) {}

  Image read() {
    call(kUnreadable, [this] {
      png_set_read_fn(png_, this, take_bytes);
      // Text, colour profiles and the like are passed over, whatever their size.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png_, info_);
    });
    check_size();
    int passes = 1;
    call(kUnreadable, [this, &passes] {
      png_set_expand(png_);
      png_set_swap(png_);  // samples of 16 bits, which a file has the high byte of first
      passes = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    Image image{png_get_image_height(png_, info_),
                png_get_image_width(png_, info_),
                png_get_channels(png_, info_),
                png_get_bit_depth(png_, info_) == 16 ? npy::Stored::u16 : npy::Stored::u8,
                {}};
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    image.samples.resize(row_bytes * std::size_t(image.height));
    call(kUnreadable, [&] {
      for (int pass = 0; pass < passes; ++pass)
        for (std::int64_t y = 0; y < image.height; ++y)
          png_read_row(png_, reinterpret_cast<png_bytep>(image.samples.data()) + row_bytes * std::size_t(y), nullptr);
      png_read_end(png_, nullptr);
    });
    return image;
  }

 private:
  static constexpr char kUnreadable[] = "is no PNG image that can be read";

  static void take_bytes(png_structp png, png_bytep target, std::size_t count) {
    Reader& self = *static_cast<Reader*>(png_get_io_ptr(png));
    if (count > self.file_.left()) png_error(png, "it is cut off");
    call_back(png, [&] { self.file_.read(target, count); });
  }

  /// A header may claim any size.
  void check_size() const {
    const std::uint64_t height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
    const std::string size = std::to_string(height) + " x " + std::to_string(width) + " pixels";
    if (height * width > std::uint64_t(kMaxPixels))
      throw npy::Error(name_, "has " + size + "; images of up to 2^28 pixels are read");
    const std::uint64_t held = height * (1 + png_get_rowbytes(png_, info_));
    if (held / kMaxExpansion > bytes_)
      throw npy::Error(name_, "claims " + size + ", which no PNG image of " + std::to_string(bytes_) + " bytes holds");
  }

  npy::RegularFile file_;
  std::uint64_t bytes_;
};

class Writer : private Codec {
 public:
  explicit Writer(const std::filesystem::path& name) : Codec(name, true) {}

  std::vector<std::byte> encode(const Image& image) {
    constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                PNG_COLOR_TYPE_RGB_ALPHA};
    const std::size_t row_bytes = std::size_t(image.width) * std::size_t(image.channels) * size_of(image.stored);
    call("cannot be written as a PNG image", [&] {
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
    return std::move(contents_);
  }

 private:
  static void put_bytes(png_structp png, png_bytep bytes, std::size_t count) {
    Writer& self = *static_cast<Writer*>(png_get_io_ptr(png));
    const std::byte* const from = reinterpret_cast<const std::byte*>(bytes);
    call_back(png, [&] { self.contents_.insert(self.contents_.end(), from, from + count); });
  }

  std::vector<std::byte> contents_;
};

}  // namespace

bool available() { return true; }

Image read(const std::filesystem::path& file) { return Reader(file).read(); }

std::vector<std::byte> encode(const std::filesystem::path& file, const Image& image) {
  return Writer(file).encode(image);
}

}  // namespace tessera::png
