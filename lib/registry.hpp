// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backends that were found: one per plugin file, loaded when first asked for.
#pragma once

#include "environment.hpp"

#include <tessera/plugin/abi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::core {

/// The name in a plugin's file name: libtessera_backend_<name>[-v2|-v3|-v4].so.
struct PluginFile {
  std::string name;
  std::string variant;  ///< "v2", "v3", "v4" or ""
  std::string path;     ///< absolute
};

/// False when the file name is not a plugin's.
bool parse_plugin_name(std::string_view file_name, PluginFile& file);

/// The plugins in the directories, in the order of the directories; a name that an earlier directory has hides all
/// files of that name in later ones. Directories that cannot be read count as empty.
std::vector<PluginFile> scan(const std::vector<std::string>& directories);

/// A plugin file and, once loaded, what it says of itself.
class Backend {
 public:
  Backend(PluginFile file, int processor_level) : file_(std::move(file)), processor_level_(processor_level) {}

  const std::string& name() const { return file_.name; }
  const std::string& variant() const { return file_.variant; }
  const std::string& path() const { return file_.path; }
  /// "cpu-v3", or the name alone where there is no variant.
  std::string full_name() const { return file_.variant.empty() ? file_.name : file_.name + "-" + file_.variant; }
  bool fits_processor() const;

  /// The plugin's table; null where it cannot be loaded. Loads it on the first call.
  const tessera_backend* table();
  /// Why it cannot be used here; "" when it can.
  const std::string& reason();
  int device_count();

 private:
  void require_loaded();
  void load();

  PluginFile file_;
  int processor_level_;
  std::mutex mutex_;
  std::atomic<bool> loaded_{false};
  const tessera_backend* table_ = nullptr;
  std::string reason_;
  int device_count_ = 0;
};

/// True when a name that a user gave ("cpu", "cpu-v3", "kokkos") means the backend `name` of `variant`.
bool matches(std::string_view given, std::string_view name, std::string_view variant);

class Registry {
 public:
  /// The process's registry, made on the first call from TESSERA_BACKEND_PATH and the directory beside the library,
  /// and never destroyed: plans in static objects may outlive any static object of ours.
  static Registry& instance();

  Registry(const std::vector<std::string>& directories, int processor_level);

  /// One per name: the variant that fits the processor best. In alphabetical order.
  const std::vector<Backend*>& backends() const { return best_; }
  /// Those that a name given by a user means; all of backends() for "".
  std::vector<Backend*> matching(std::string_view given) const;

 private:
  std::vector<std::unique_ptr<Backend>> all_;
  std::vector<Backend*> best_;
};

}  // namespace tessera::core
