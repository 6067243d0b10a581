// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/registry.hpp"

#include "dispatch/cpu_level.hpp"
#include "dispatch/listing.hpp"
#include "dispatch/loader.hpp"

#include <algorithm>
#include <set>
#include <system_error>

namespace tessera::core {
namespace {

constexpr std::string_view kPrefix = "libtessera_backend_";
constexpr std::string_view kSuffix = ".so";

constexpr const char* kEnvironment = "TESSERA_BACKEND_PATH";

/// Where plugins are installed, seen from the file that holds this code.
std::vector<SearchedDirectory> own_plugin_directories() {
  std::vector<SearchedDirectory> found;
  const auto add = [&, own = own_directory()](const char* below, const char* origin) {
    found.push_back(
        {own ? *own + below : "", origin, own ? "" : "/proc/self/maps does not tell which directory it is"});
  };
#if defined(TESSERA_STATIC)
  // This code is inside a program or some other library: look where an install puts plugins, and beside it. A set-uid
  // program may have been linked into a directory of its caller's.
  if (!secure_execution()) {
    add("/../" TESSERA_LIBDIR "/tessera", "beside the program");
    add("/tessera", "beside the program");
#if defined(TESSERA_BUILT_PLUGINS)
    found.push_back({TESSERA_BUILT_PLUGINS, "of the build tree", ""});
#endif
  }
  found.push_back({TESSERA_PLUGIN_DIRECTORY, "of the installation", ""});
#else
  add("/tessera", "beside libtessera");
#endif
  return found;
}

/// Adds a directory's plugins to `found`, but for names that it has from earlier ones.
void scan(SearchedDirectory& directory, std::set<std::string>& names, std::vector<PluginFile>& found) {
  const std::string root = real_path(directory.path);
  const Listing listing = list_directory(root.empty() ? directory.path : root);
  if (listing.error != 0) directory.error = std::generic_category().message(listing.error);
  if (!root.empty()) directory.path = root;
  std::vector<PluginFile> here;
  for (const std::string& name : listing.names) {
    PluginFile file;
    if (!parse_plugin_name(name, file) || names.contains(file.name)) continue;
    file.path = directory.path + "/" + name;
    here.push_back(std::move(file));
  }
  for (PluginFile& file : here) {
    names.insert(file.name);
    found.push_back(std::move(file));
  }
}

}  // namespace

bool parse_plugin_name(std::string_view file_name, PluginFile& file) {
  if (!file_name.starts_with(kPrefix) || !file_name.ends_with(kSuffix)) return false;
  if (file_name.size() <= kPrefix.size() + kSuffix.size()) return false;
  std::string_view name = file_name.substr(kPrefix.size(), file_name.size() - kPrefix.size() - kSuffix.size());
  file.variant.clear();
  for (const std::string_view variant : {"v2", "v3", "v4"})
    if (name.size() > variant.size() + 1 && name.ends_with(variant) && name[name.size() - variant.size() - 1] == '-') {
      file.variant = std::string(variant);
      name.remove_suffix(variant.size() + 1);
      break;
    }
  file.name = name;
  return true;
}

std::string no_plugin(std::string_view name) {
  if (name.size() > kMostNameLength) return "no plugin of that name was found";
  const std::string file = std::string(kPrefix).append(name), suffix(kSuffix);
  return "no plugin " + file + suffix + " or " + file + "-*" + suffix + " was found";
}

std::vector<PluginFile> scan(std::vector<SearchedDirectory>& directories) {
  std::vector<PluginFile> found;
  std::set<std::string> names;
  for (SearchedDirectory& directory : directories)
    if (!directory.path.empty()) scan(directory, names, found);
  return found;
}

std::string describe_search(const std::vector<SearchedDirectory>& directories) {
  std::string text;
  for (const SearchedDirectory& d : directories)
    text += (text.empty() ? "" : ", ") + d.path + (d.path.empty() ? "(" : " (") + d.origin +
            (d.error.empty() ? "" : ": " + d.error) + ")";
  return "searched for plugins: " + (text.empty() ? "nothing" : text);
}

std::string describe_search() { return describe_search(Registry::instance().searched()); }

bool Backend::fits_processor() const { return variant_level(file_.variant) <= processor_level_; }

/// A mutex, since an exception that passes through call_once ends the process where memory has ended.
const Backend::State& Backend::loaded() {
  const std::lock_guard lock(mutex_);
  if (!state_) state_ = load();
  return *state_;
}

Backend::State Backend::load() const {
  State state;
  if (!fits_processor()) {
    state.examined.reason =
        "built for x86-64-" + file_.variant + ", this processor has x86-64-v" + std::to_string(processor_level_);
    return state;
  }
  Loaded loaded = load_backend(file_.path);
  if (loaded.table == nullptr) {
    state.examined.reason = std::move(loaded.reason);
    return state;
  }
  state.examined = examine(loaded.table, file_.name);
  if (state.examined.sound) state.table = loaded.table;
  return state;
}

const std::vector<std::string>& Backend::algorithms(tessera_op op) {
  static const std::vector<std::string> none;
  return op >= TESSERA_OP_GEMM && op <= TESSERA_OP_SYSTEM ? loaded().examined.algorithms[std::size_t(op - 1)] : none;
}

bool matches(std::string_view given, std::string_view name, std::string_view variant) {
  if (given == name) return true;
  if (!variant.empty() && given == std::string(name) + "-" + std::string(variant)) return true;
  // A family: "kokkos" means every flavour "kokkos-...".
  return name.size() > given.size() && name.starts_with(given) && name[given.size()] == '-';
}

Registry& Registry::instance() {
  static auto* registry = [] {
    std::vector<SearchedDirectory> directories;
    for (std::string& entry : environment_backend_path()) directories.push_back({std::move(entry), kEnvironment, ""});
    for (SearchedDirectory& own : own_plugin_directories()) directories.push_back(std::move(own));
    return new Registry(std::move(directories), processor_level());
  }();
  return *registry;
}

Registry::Registry(std::vector<SearchedDirectory> directories, int processor_level)
    : searched_(std::move(directories)) {
  for (PluginFile& file : scan(searched_)) all_.push_back(std::make_unique<Backend>(std::move(file), processor_level));
  for (const SearchedDirectory& d : searched_)
    if (d.origin == kEnvironment && !d.error.empty())
      problem_ += (problem_.empty() ? "" : "; ") + d.origin + " names '" + d.path +
                  "', which cannot be read: " + d.error + ": mend or remove the entry";
  // By name; within a name the variants that fit first, the highest of them foremost.
  std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const Backend& backend) {
      const int level = variant_level(backend.variant());
      return backend.fits_processor() ? -level : level;
    };
    return a->name() != b->name() ? a->name() < b->name() : rank(*a) < rank(*b);
  });
  for (const auto& backend : all_)
    if (best_.empty() || best_.back()->name() != backend->name()) best_.push_back(backend.get());
  for (const KnownBackend& known : known_backends())
    if (matching(known.name).empty()) unbuilt_.push_back(known);
}

std::vector<Backend*> Registry::matching(std::string_view given) const {
  if (given.empty()) return best_;
  std::vector<Backend*> result;
  for (Backend* backend : best_)
    if (matches(given, backend->name(), backend->variant())) result.push_back(backend);
  if (!result.empty()) return result;
  for (const auto& backend : all_)
    if (matches(given, backend->name(), backend->variant())) result.push_back(backend.get());
  return result;
}

}  // namespace tessera::core
