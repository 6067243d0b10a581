// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any bytes as a .npy file: an npy::Error, or an array that holds what the file says and comes back equal when it is
/// written and read again. As a kernel of taps: an error, or no more taps than elements.

#include "npy.hpp"
#include "taps_spec.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace {

namespace npy = tessera::npy;

void require(bool condition) {
  if (!condition) std::abort();
}

/// A file in memory, with a name that a program can open.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("npy", MFD_CLOEXEC)) { require(descriptor_ >= 0); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void set(std::span<const std::uint8_t> bytes) const {
    require(::ftruncate(descriptor_, 0) == 0);
    require(::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == ssize_t(bytes.size()));
  }

 private:
  int descriptor_;
};

/// The file that arrays are written to, in a folder that goes when the program ends.
class Output {
 public:
  Output() {
    std::string name = (std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp") + std::string("/npy-fuzz-XXXXXX");
    require(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Output() { std::filesystem::remove_all(folder_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  std::filesystem::path path() const { return folder_ / "out.npy"; }

 private:
  std::filesystem::path folder_;
};

/// Whether the file ends with these numbers, in either byte order.
bool ends_with(std::span<const std::uint8_t> file, std::vector<std::byte> numbers, std::size_t item) {
  const auto is_end = [&] {
    return std::equal(file.end() - std::ptrdiff_t(numbers.size()), file.end(), numbers.begin(),
                      [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
  };
  if (is_end()) return true;
  for (auto at = numbers.begin(); at != numbers.end(); at += std::ptrdiff_t(item))
    std::reverse(at, at + std::ptrdiff_t(item));
  return is_end();
}

template <tessera::Element T>
void write_and_compare(const npy::Array& array, std::span<const std::uint8_t> read, const std::filesystem::path& file) {
  const npy::Numbers numbers =
      npy::to_numbers(file, std::span<const T>(array.data<T>(), std::size_t(array.size)), array.stored);
  require(numbers.clamped == 0);
  require(array.stored == npy::Stored::boolean || ends_with(read, numbers.bytes, size_of(array.stored)));
  npy::OutputFile output(file);
  output.write(numbers.bytes, array.stored, array.shape);
  output.commit();
  const npy::Array again = npy::read_numbers(file, std::nullopt);
  require(again.stored == array.stored && again.dtype == array.dtype && again.shape == array.shape);
  require(again.size == array.size && !again.fortran_order);
  require(std::memcmp(again.data<T>(), array.data<T>(), std::size_t(array.size) * sizeof(T)) == 0);
}

/// What holds for every array that was read.
void check(const npy::Array& array, std::span<const std::uint8_t> file) {
  const std::size_t item = size_of(array.stored);
  std::int64_t size = 1;
  for (const std::int64_t extent : array.shape) {
    require(extent > 0);
    size *= extent;
  }
  require(size == array.size && std::size_t(size) * item <= file.size());
  std::int64_t last = 0;
  const std::vector<std::int64_t> strides = array.strides();
  require(strides.size() == array.shape.size());
  for (std::size_t axis = 0; axis < strides.size(); ++axis) last += (array.shape[axis] - 1) * strides[axis];
  require(last == size - 1);
  require(array.describe().size() < 4096);
}

/// The same file as a kernel.
void read_kernel(const npy::Array& array, const std::filesystem::path& file) {
  const std::size_t axes = array.shape.size();
  if (axes < 1 || axes > TESSERA_MAX_RANK) return;
  try {
    const tessera::Taps taps = tessera::cli::read_kernel(file, int(axes), {0});
    require(taps.size() > 0 && taps.size() <= std::size_t(array.size));
  } catch (const npy::Error& error) {
    require(std::strlen(error.what()) < 8192);
  }
}

/// Whether elements of the library's types are read from the same files, and those alone.
void read_elements(const npy::Array& array, const std::filesystem::path& file) {
  bool is_read = true;
  try {
    require(npy::read(file).size == array.size);
  } catch (const npy::Error&) {
    is_read = false;
  }
  require(is_read == is_floating(array.stored));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const MemoryFile file;
  static const Output output;
  const std::span<const std::uint8_t> bytes(data, size);
  file.set(bytes);
  npy::Array array;
  try {
    array = npy::read_numbers(file.path(), std::nullopt);
  } catch (const npy::Error& error) {
    require(std::strlen(error.what()) < 8192);
    return 0;
  }
  check(array, bytes);
  tessera::with_types(array.dtype,
                      [&]<class T>(std::type_identity<T>) { write_and_compare<T>(array, bytes, output.path()); });
  read_elements(array, file.path());
  read_kernel(array, file.path());
  return 0;
}
