// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "npy_file.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tessera::test {

void write_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string read_file(const std::filesystem::path& file) {
  std::ostringstream bytes;
  bytes << std::ifstream(file, std::ios::binary).rdbuf();
  return bytes.str();
}

std::vector<std::string> list(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string npy_dictionary(const std::string& descr, bool fortran_order, const Shape& shape) {
  std::string extents;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    extents += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  if (shape.size() == 1) extents += ",";
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': (" +
         extents + "), }";
}

std::string npy_header(const std::string& dictionary, int version) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string text = dictionary;
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header = std::string("\x93NUMPY") + char(version) + '\0';
  for (std::size_t byte = 0; byte < prefix - 8; ++byte) header += char(text.size() >> (8 * byte) & 0xff);
  return header + text;
}

}  // namespace tessera::test
