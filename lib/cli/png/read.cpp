// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "guarded.hpp"
#include "png_image.hpp"
#include "regular_file.hpp"

#include <exception>
#include <string>

namespace tessera::png {
namespace {

/// Bytes that one byte of compressed data may stand for, at most: https://zlib.net/zlib_tech.html
constexpr std::uint64_t kMaxExpansion = 1032;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& name)
      : name_(name),
        file_(name),
        bytes_(file_.left()),
        png_(png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &failure_, on_error, on_warning, &failure_, take_memory,
                                      give_memory)) {
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ != nullptr) return;
    png_destroy_read_struct(&png_, &info_, nullptr);
    throw std::bad_alloc();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  Image read() {
    call([this] {
      png_set_read_fn(png_, this, take_bytes);
      // Text, colour profiles and the like are passed over, whatever their size.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png_, info_);
    });
    check_size();
    call([this] {
      png_set_expand(png_);
      png_set_swap(png_);  // samples of 16 bits, which a file has the high byte of first
      png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
    Image image{png_get_image_height(png_, info_),
                png_get_image_width(png_, info_),
                png_get_channels(png_, info_),
                png_get_bit_depth(png_, info_) == 16 ? npy::Stored::u16 : npy::Stored::u8,
                {}};
    const std::size_t row_bytes = png_get_rowbytes(png_, info_);
    image.samples.resize(row_bytes * std::size_t(image.height));
    std::vector<png_bytep> rows;
    for (std::int64_t y = 0; y < image.height; ++y)
      rows.push_back(reinterpret_cast<png_bytep>(image.samples.data()) + row_bytes * std::size_t(y));
    call([this, &rows] {
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
    return image;
  }

 private:
  template <class Body>
  void call(Body&& body) {
    if (guarded(png_, body)) return;
    if (file_failure_) std::rethrow_exception(file_failure_);
    if (failure_.out_of_memory) throw std::bad_alloc();
    throw npy::Error(name_, std::string("is no PNG image that can be read: ") + failure_.message);
  }

  static void take_bytes(png_structp png, png_bytep target, std::size_t count) {
    Reader& self = *static_cast<Reader*>(png_get_io_ptr(png));
    if (count > self.file_.left()) png_error(png, "it is cut off");
    try {
      self.file_.read(target, count);
      return;
    } catch (...) {
      self.file_failure_ = std::current_exception();
    }
    png_error(png, "");
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

  const std::filesystem::path& name_;
  npy::RegularFile file_;
  std::uint64_t bytes_;
  Failure failure_;
  std::exception_ptr file_failure_;
  png_structp png_;
  png_infop info_ = nullptr;
};

}  // namespace

bool available() { return true; }

Image read(const std::filesystem::path& file) { return Reader(file).read(); }

}  // namespace tessera::png
