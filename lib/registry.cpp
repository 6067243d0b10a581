// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "registry.hpp"

#include "cpu_level.hpp"
#include "listing.hpp"
#include "loader.hpp"

#include <tessera/plugin/error.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace tessera::core {
namespace {

constexpr std::string_view kPrefix = "libtessera_backend_";
constexpr std::string_view kSuffix = ".so";

/// Where plugins are installed, seen from the file that holds this code.
std::vector<std::string> own_plugin_directories() {
  const std::string own = own_directory();
#if defined(TESSERA_STATIC)
  // This code is inside a program or some other library: look where an install puts plugins, and beside it.
  return {own + "/../" TESSERA_LIBDIR "/tessera", own + "/tessera", TESSERA_PLUGIN_DIRECTORY};
#else
  return {own + "/tessera"};
#endif
}

}  // namespace

bool parse_plugin_name(std::string_view file_name, PluginFile& file) {
  if (!file_name.starts_with(kPrefix) || !file_name.ends_with(kSuffix)) return false;
  if (file_name.size() <= kPrefix.size() + kSuffix.size()) return false;
  std::string_view name = file_name.substr(kPrefix.size(), file_name.size() - kPrefix.size() - kSuffix.size());
  file.variant.clear();
  for (const std::string_view variant : {"v2", "v3", "v4"})
    if (name.size() > variant.size() + 1 && name.ends_with(variant) && name[name.size() - variant.size() - 1] == '-') {
      file.variant = variant;
      name.remove_suffix(variant.size() + 1);
      break;
    }
  file.name = name;
  return true;
}

std::vector<PluginFile> scan(const std::vector<std::string>& directories) {
  std::vector<PluginFile> found;
  std::set<std::string> names;
  for (const std::string& directory : directories) {
    const std::string root = real_path(directory);
    if (root.empty()) continue;
    std::vector<PluginFile> here;
    for (const std::string& name : list_directory(root).names) {
      PluginFile file;
      if (!parse_plugin_name(name, file) || names.contains(file.name)) continue;
      file.path = root + "/" + name;
      here.push_back(std::move(file));
    }
    for (PluginFile& file : here) {
      names.insert(file.name);
      found.push_back(std::move(file));
    }
  }
  return found;
}

bool Backend::fits_processor() const { return variant_level(file_.variant) <= processor_level_; }

const tessera_backend* Backend::table() {
  require_loaded();
  return table_;
}

const std::string& Backend::reason() {
  require_loaded();
  return reason_;
}

int Backend::device_count() {
  require_loaded();
  return device_count_;
}

/// Not std::call_once: an exception that passes the C library's pthread_once ends the program where memory ends.
void Backend::require_loaded() {
  if (loaded_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (loaded_.load(std::memory_order_relaxed)) return;
  load();
  loaded_.store(true, std::memory_order_release);
}

/// Throws where memory ends, so that the next use tries again.
void Backend::load() {
  if (!fits_processor()) {
    reason_ = "built for x86-64-" + file_.variant + ", this processor has x86-64-v" + std::to_string(processor_level_);
    return;
  }
  Loaded loaded = load_backend(file_.path, file_.name);
  table_ = loaded.table;
  reason_ = std::move(loaded.reason);
  if (table_ == nullptr) return;
  std::array<char, 1024> message{};
  tessera_error error{sizeof(tessera_error), TESSERA_OK, 0, message.data(), message.size()};
  const tessera_status status = table_->available(&error);
  if (status == TESSERA_OUT_OF_MEMORY) throw plugin::Error(status, name() + ": " + message.data());
  if (status != TESSERA_OK) {
    reason_ = message[0] == '\0' ? "it gave no reason" : message.data();
    return;
  }
  device_count_ = table_->device_count();
  if (device_count_ < 1) reason_ = "it has no device";
}

bool matches(std::string_view given, std::string_view name, std::string_view variant) {
  if (given == name) return true;
  if (!variant.empty() && given == std::string(name) + "-" + std::string(variant)) return true;
  // A family: "kokkos" means every flavour "kokkos-...".
  return name.size() > given.size() && name.starts_with(given) && name[given.size()] == '-';
}

Registry& Registry::instance() {
  static auto* registry = [] {
    std::vector<std::string> directories = environment_backend_path();
    for (std::string& own : own_plugin_directories()) directories.push_back(std::move(own));
    return new Registry(directories, processor_level());
  }();
  return *registry;
}

Registry::Registry(const std::vector<std::string>& directories, int processor_level) {
  for (PluginFile& file : scan(directories))
    all_.push_back(std::make_unique<Backend>(std::move(file), processor_level));
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
