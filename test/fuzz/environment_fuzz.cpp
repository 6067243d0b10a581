// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// What environment variables and plugins' file names may hold, through the parsers of the core. What is taken is
/// written out again and must mean the same; what is not gives a message that quotes its source.

#include "bytes.hpp"

#include "dispatch/environment.hpp"
#include "dispatch/registry.hpp"

#include <tessera/plugin/error.hpp>

namespace tessera::test {

namespace {

constexpr const char* kSource = "TESSERA_VARIABLE";

/// Calls body(); false when it refuses, with a message that says where the text stood.
template <class Body>
bool taken(Body&& body) {
  try {
    body();
    return true;
  } catch (const plugin::Error& error) {
    const std::string message = error.what();
    require(error.status() == TESSERA_INVALID_ARGUMENT, "refused as something else:", message);
    require(message.find(kSource) != std::string::npos, "the message does not name its source:", message);
  }
  return false;
}

void backend(const std::string& text) {
  core::BackendSpec spec, again;
  if (!taken([&] { spec = core::parse_backend(text, kSource); })) return;
  std::string written = spec.name.empty() ? "auto" : spec.name;
  if (spec.device >= 0) written += ":" + std::to_string(spec.device);
  require(taken([&] { again = core::parse_backend(written, kSource); }), "not taken again:", written);
  require(again.name == spec.name && again.device == spec.device, "changed:", written);
}

void algorithm(const std::string& text) {
  core::AlgorithmSpec spec, again;
  if (!taken([&] { spec = core::parse_algorithm(text, kSource, true); })) return;
  std::string written = spec.backend.empty() ? spec.name : spec.backend + "/" + spec.name;
  for (std::size_t i = 0; i < spec.parameters.size(); ++i)
    written += (i == 0 ? ":" : ",") + spec.parameters[i].first + "=" + std::to_string(spec.parameters[i].second);
  require(taken([&] { again = core::parse_algorithm(written, kSource, true); }), "not taken again:", written);
  require(again.backend == spec.backend && again.name == spec.name && again.parameters == spec.parameters,
          "changed:", written);
}

void number(Bytes& bytes, const std::string& text) {
  const int low = int(bytes.below(256)) - 8, high = low + int(bytes.below(256)) * 8;
  constexpr int absent = -1000;
  int value = absent, again = absent;
  if (!taken([&] { value = core::parse_number(text, kSource, low, high, absent); })) return;
  require((value == absent) == text.empty(), "nothing is something:", text);
  if (value == absent) return;
  require(low <= value && value <= high, "outside its bounds:", text);
  again = core::parse_number(std::to_string(value), kSource, low, high, absent);
  require(again == value, "changed:", text);
}

void path(const std::string& text) {
  std::string joined;
  const auto entries = core::parse_path(text);
  for (const std::string& entry : entries) {
    require(!entry.empty() && entry.find(':') == std::string::npos, "not an entry:", entry);
    joined += (joined.empty() ? "" : ":") + entry;
  }
  require(core::parse_path(joined) == entries, "changed:", joined);
}

void file_name(const std::string& text) {
  core::PluginFile file;
  for (const std::string& name : {text, "libtessera_backend_" + text + ".so"}) {
    if (!core::parse_plugin_name(name, file)) continue;
    const std::string variant = file.variant.empty() ? "" : "-" + file.variant;
    require(!file.name.empty() && "libtessera_backend_" + file.name + variant + ".so" == name, "changed:", name);
  }
}

}  // namespace

}  // namespace tessera::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera::test;
  Bytes bytes(data, size);
  const std::int64_t kind = bytes.below(8);
  if (kind == 4) {
    const int bounds = bytes.byte();
    Bytes drawn(data, std::size_t(bounds) % (size + 1));
    number(drawn, bytes.text(64));
    return 0;
  }
  const std::string text = bytes.text(4096);
  if (kind < 2) backend(text);
  if (kind == 2 || kind == 3) algorithm(text);
  if (kind == 5) path(text);
  if (kind > 5) file_name(text);
  return 0;
}
