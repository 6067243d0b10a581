// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What `tessera info` says, and `python -m tessera info` in the same words.
#pragma once

#include <tessera/backends.hpp>
#include <tessera/context.hpp>
#include <tessera/dtype.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::cli {

inline std::string joined(const std::vector<std::string>& names) {
  std::string line;
  for (const std::string& name : names) line += (line.empty() ? "" : ", ") + name;
  return line.empty() ? "none" : line;
}

/// A number as `format`, which takes a double.
inline std::string formatted(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// The lines of one backend.
inline std::string info_text(const BackendInfo& b) {
  std::string text = "\n" + b.name + (b.variant.empty() ? "" : " (" + b.variant + ")") +
                     (b.available ? ": usable\n" : ": not usable\n");
  const auto row = [&text](std::string key, const std::string& value) {
    key.resize(std::max<std::size_t>(key.size(), 10), ' ');
    if (!value.empty()) text += "  " + key + value + "\n";
  };
  row("reason", b.reason);
  for (std::size_t i = 0; i < b.devices.size(); ++i)
    row("device " + std::to_string(i),
        b.devices[i].name + ", " + formatted("%.1f GiB", double(b.devices[i].memory_bytes) / double(1 << 30)));
  if (b.available) row("score", formatted("%.3g", b.score));
  const bool known = b.available || !b.gemm_algorithms.empty() || !b.stencil_algorithms.empty();
  row("gemm", known ? joined(b.gemm_algorithms) : "");
  row("stencil", known ? joined(b.stencil_algorithms) : "");
  row("system", known ? joined(b.system_algorithms) : "");
  row("build", b.build_info);
  row("file", b.path);
  return text;
}

/// Versions, types, where was searched, each backend, and those of Tessera's that are not here.
inline std::string info_text(const std::vector<BackendInfo>& found, const std::vector<BackendDirectory>& searched) {
  std::vector<std::string> types;
  for (const DType dtype : kDTypes) types.push_back(name_of(dtype));
  std::string text = std::string("tessera ") + tessera_version() + "\ntypes: " + joined(types) + "\n\nsearched:\n";
  for (const BackendDirectory& d : searched)
    text +=
        "  " + (d.path.empty() ? "?" : d.path) + " (" + d.origin + ")" + (d.error.empty() ? "" : ": ") + d.error + "\n";
  for (const BackendInfo& b : found) text += info_text(b);
  for (const UnbuiltBackend& b : unbuilt_backends())
    text += "\n" + b.name + ": not built into this installation\n  option    -D" + b.option + "=ON\n";
  return text;
}

/// Throws where no plan could be made: a script that asks must not take the list for a yes.
inline void require_usable(const std::vector<BackendInfo>& found, const std::vector<BackendDirectory>& searched) {
  for (const BackendDirectory& d : searched)
    if (d.origin == "TESSERA_BACKEND_PATH" && !d.error.empty())
      throw std::runtime_error("TESSERA_BACKEND_PATH names '" + d.path + "', which cannot be read: " + d.error +
                               ": mend or remove the entry");
  if (found.empty())
    throw std::runtime_error("no backend was found; TESSERA_BACKEND_PATH adds directories to those searched");
  if (std::none_of(found.begin(), found.end(), [](const BackendInfo& b) { return b.available; }))
    throw std::runtime_error("no backend is usable");
  const Context chosen;  // throws where TESSERA_BACKEND names what cannot be had
}

}  // namespace tessera::cli
