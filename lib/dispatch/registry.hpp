// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// The backends that were found: one per plugin file, loaded when first asked for.
#pragma once

#include "dispatch/environment.hpp"
#include "dispatch/examine.hpp"
#include "dispatch/known_backends.hpp"

#include <tessera/plugin/abi.h>

#include <memory>
#include <mutex>
#include <optional>
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

/// "no plugin libtessera_backend_cuda.so or libtessera_backend_cuda-*.so was found"; without a name that is too long.
std::string no_plugin(std::string_view name);

/// A directory that is searched for plugins.
struct SearchedDirectory {
  std::string path;    ///< absolute where it exists; "" where the system does not tell which one it is
  std::string origin;  ///< "TESSERA_BACKEND_PATH", "beside libtessera", "beside the program",
                       ///< "of the build tree", "of the installation"
  std::string error;   ///< why it could not be read; "" when it was
};

/// The plugins in the directories, in their order; a name that an earlier directory has hides all files of that name
/// in later ones. Completes the directories: their absolute paths, and what kept them from being read.
std::vector<PluginFile> scan(std::vector<SearchedDirectory>& directories);

/// "searched for plugins: /a (TESSERA_BACKEND_PATH: No such file or directory), /usr/lib/tessera (beside libtessera)".
std::string describe_search(const std::vector<SearchedDirectory>& directories);
/// That of the process's registry.
std::string describe_search();

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

  /// The plugin's table; null where it cannot be loaded or breaks the contract. Loads it on the first call, as all
  /// that follow do.
  const tessera_backend* table() { return loaded().table; }
  /// Why it cannot be used here; "" when it can.
  const std::string& reason() { return loaded().examined.reason; }
  const std::string& build_info() { return loaded().examined.build_info; }
  /// Known where the table is, also where the backend cannot be used.
  const std::vector<std::string>& algorithms(tessera_op op);
  const std::vector<DeviceDescription>& devices() { return loaded().examined.devices; }
  int device_count() { return int(devices().size()); }
  const SmallGemm& small_gemm() { return loaded().examined.small; }

 private:
  struct State {
    const tessera_backend* table = nullptr;
    Examined examined;
  };
  const State& loaded();
  State load() const;

  PluginFile file_;
  int processor_level_;
  std::mutex mutex_;
  std::optional<State> state_;
};

/// True when a name that a user gave ("cpu", "cpu-v3", "kokkos") means the backend `name` of `variant`.
bool matches(std::string_view given, std::string_view name, std::string_view variant);

class Registry {
 public:
  /// The process's registry, made on the first call from TESSERA_BACKEND_PATH and the directory beside the library,
  /// and never destroyed: plans in static objects may outlive any static object of ours.
  static Registry& instance();

  Registry(std::vector<SearchedDirectory> directories, int processor_level);

  /// One per name: the variant that fits the processor best. In alphabetical order.
  const std::vector<Backend*>& backends() const { return best_; }
  /// Those of Tessera's backends that have no plugin here.
  const std::vector<KnownBackend>& unbuilt() const { return unbuilt_; }
  /// Those that a name given by a user means; all of backends() for "".
  std::vector<Backend*> matching(std::string_view given) const;
  const std::vector<SearchedDirectory>& searched() const { return searched_; }
  /// What is wrong with TESSERA_BACKEND_PATH: an entry that cannot be read. "" when nothing is.
  const std::string& problem() const { return problem_; }

 private:
  std::vector<SearchedDirectory> searched_;
  std::string problem_;
  std::vector<std::unique_ptr<Backend>> all_;
  std::vector<Backend*> best_;
  std::vector<KnownBackend> unbuilt_;
};

}  // namespace tessera::core
