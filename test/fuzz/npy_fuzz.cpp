// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Any bytes as a .npy file: an npy::Error, or an array that holds what the file says and comes back equal when it is
/// written and read again. As a kernel of taps: an error, or no more taps than elements.

#include "memory_file.hpp"
#include "npy.hpp"
#include "process.hpp"
#include "spec/spec.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace tessera;
using test::require;

constexpr std::size_t kLongest = 8192;  // bytes of a message

/// Whether the file ends with these numbers, in either byte order.
bool ends_with(std::span<const std::byte> file, std::vector<std::byte> numbers, std::size_t item) {
  if (std::equal(file.end() - std::ptrdiff_t(numbers.size()), file.end(), numbers.begin())) return true;
  for (auto at = numbers.begin(); at != numbers.end(); at += std::ptrdiff_t(item))
    std::reverse(at, at + std::ptrdiff_t(item));
  return std::equal(file.end() - std::ptrdiff_t(numbers.size()), file.end(), numbers.begin());
}

template <Element T>
void write_and_compare(const npy::Array& array, std::span<const std::byte> read) {
  static const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "out.npy";
  const npy::Numbers numbers =
      npy::to_numbers(file, std::span<const T>(array.data<T>(), std::size_t(array.size)), array.stored);
  require(numbers.clamped == 0, "clamped");
  require(array.stored == npy::Stored::boolean || ends_with(read, numbers.bytes, size_of(array.stored)), "numbers");
  npy::OutputFile output(file);
  output.write(numbers.bytes, array.stored, array.shape);
  output.commit();
  const npy::Array again = npy::read(file);
  require(again.stored == array.stored && again.dtype == array.dtype && again.shape == array.shape, "form");
  require(again.size == array.size && !again.fortran_order, "order");
  require(std::memcmp(again.data<T>(), array.data<T>(), std::size_t(array.size) * sizeof(T)) == 0, "elements");
}

/// What holds for every array that was read.
void check(const npy::Array& array, std::span<const std::byte> file) {
  const std::vector<std::int64_t> strides = array.strides();
  require(strides.size() == array.shape.size(), "strides");
  std::int64_t size = 1, last = 0;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    require(array.shape[axis] > 0, "extent");
    size *= array.shape[axis];
    last += (array.shape[axis] - 1) * strides[axis];
  }
  require(size == array.size && std::size_t(size) * size_of(array.stored) <= file.size(), "size");
  require(last == size - 1, "strides");
  require(array.describe().size() < kLongest / 2, "description");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::string file = test::memory_file(bytes);
  npy::Array array;
  if (!test::allow<npy::Error>(kLongest, [&] { array = npy::read(file); })) return 0;
  check(array, bytes);
  with_types(array.dtype, [&]<class T>(std::type_identity<T>) { write_and_compare<T>(array, bytes); });
  const std::size_t axes = array.shape.size();
  if (axes < 1 || axes > TESSERA_MAX_RANK) return 0;
  test::allow<npy::Error>(kLongest, [&] {
    const Taps taps = cli::read_kernel(file, int(axes), {0});
    require(taps.size() > 0 && taps.size() <= std::size_t(array.size), "taps");
  });
  return 0;
}
