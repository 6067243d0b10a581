// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "system_arguments.hpp"

#include "clip.hpp"
#include "scanner.hpp"
#include "taps_spec.hpp"

#include <tessera/system.h>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <system_error>

namespace tessera::cli {
namespace {

/// NAME or NAME[LEVEL].
class Left : Scanner {
 public:
  explicit Left(const std::string& text) : Scanner(text) {}
  NamedFile read() {
    NamedFile result;
    result.field = word();
    if (result.field.empty()) unexpected("the name of a field");
    if (!at_end()) {
      expect('[', "[ or =");
      result.level = int(whole("a level", 1 - TESSERA_MAX_LEVELS, 0));
      expect(']', "]");
      if (!at_end()) unexpected("=");
    }
    return result;
  }
};

void refuse_twice(std::set<std::string>& seen, const NamedFile& named, const std::string& option) {
  if (!seen.insert(named.field + "[" + std::to_string(named.level.value_or(0)) + "]").second)
    throw std::invalid_argument(option + " names " + named.name() + " twice; give each level one file");
}

/// The same for paths that lead to one file.
std::string canonical(const std::string& file) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::weakly_canonical(file, error);
  return error ? file : path.native();
}

}  // namespace

std::string NamedFile::name() const {
  return field + (level.value_or(0) == 0 ? "" : "[" + std::to_string(*level) + "]");
}

NamedFile parse_named_file(const std::string& text, const std::string& option) {
  const std::string whole = option + " '" + npy::clip(text) + "'";
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size())
    throw std::invalid_argument(whole + ": expected NAME=FILE or NAME[-1]=FILE");
  try {
    NamedFile result = Left(text.substr(0, equals)).read();
    result.file = text.substr(equals + 1);
    return result;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(whole + ": " + error.what());
  }
}

std::vector<NamedFile> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<NamedFile> inputs;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    const NamedFile first = parse_named_file(text, "--field");
    const std::vector<std::string> files = first.level ? std::vector{first.file} : split(first.file, ',');
    if (files.size() > TESSERA_MAX_LEVELS)
      throw std::invalid_argument("--field '" + npy::clip(text) + "': " + std::to_string(files.size()) +
                                  " files; a field has at most " + std::to_string(TESSERA_MAX_LEVELS) + " levels");
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].empty()) throw std::invalid_argument("--field '" + npy::clip(text) + "': a file has no name");
      inputs.push_back({first.field, first.level.value_or(-int(i)), files[i]});
      refuse_twice(seen, inputs.back(), "--field");
    }
  }
  return inputs;
}

std::vector<NamedFile> parse_outputs(const std::vector<std::string>& texts, const std::vector<std::string>& others) {
  std::vector<NamedFile> outputs;
  std::set<std::string> seen, files;
  const auto refuse_same = [&files](const std::string& file) {
    if (!files.insert(canonical(file)).second)
      throw std::invalid_argument("two outputs go to '" + npy::clip(file) + "'; give each a file of its own");
  };
  for (const std::string& text : texts) {
    outputs.push_back(parse_named_file(text, "--output"));
    refuse_twice(seen, outputs.back(), "--output");
    refuse_same(outputs.back().file);
  }
  for (const std::string& other : others) refuse_same(other);
  return outputs;
}

}  // namespace tessera::cli
