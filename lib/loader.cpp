// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "loader.hpp"

#include "listing.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

namespace tessera::core {
namespace {

/// What failed for want of memory succeeds at a second try, if the want was short: dlerror() often does not tell.
void* open_library(const std::string& path) {
  constexpr int flags = RTLD_NOW | RTLD_LOCAL;
  void* const library = dlopen(path.c_str(), flags);
  return library != nullptr ? library : dlopen(path.c_str(), flags);
}

/// Throws where that is the want of memory, which is no property of the file.
std::string reason_of_refusal() {
  const char* text = dlerror();
  const std::string reason = text == nullptr ? "the dynamic linker gave no reason" : text;
  if (reason == "out of memory" || reason.ends_with(std::strerror(ENOMEM))) throw std::bad_alloc();
  return reason;
}

/// What to say of a plugin without an entry point of our version.
std::string missing_entry(void* library) {
  for (int version = 2; version <= 9; ++version)
    if (dlsym(library, ("tessera_backend_v" + std::to_string(version)).c_str()) != nullptr)
      return "ABI v" + std::to_string(version) + ", this library speaks v" +
             std::to_string(TESSERA_BACKEND_ABI_VERSION);
  return "it exports no tessera_backend_v1: not a Tessera backend";
}

/// "" for a table that holds everything required.
std::string check(const tessera_backend* table, const std::string& name) {
  if (table == nullptr) return "tessera_backend_v1() returned null";
  constexpr std::uint64_t required = offsetof(tessera_backend, native_stream);
  if (table->struct_size < required)
    return "its table has " + std::to_string(table->struct_size) + " bytes, at least " + std::to_string(required) +
           " are needed";
  if (table->abi_version != TESSERA_BACKEND_ABI_VERSION)
    return "ABI v" + std::to_string(table->abi_version) + ", this library speaks v" +
           std::to_string(TESSERA_BACKEND_ABI_VERSION);
  if (table->name == nullptr || table->name != name)
    return "it calls itself '" + std::string(table->name == nullptr ? "" : table->name) + "', its file says '" + name +
           "'";
  const auto* bytes = reinterpret_cast<const unsigned char*>(table);
  for (std::size_t at = offsetof(tessera_backend, available); at < required; at += sizeof(void*)) {
    void* function = nullptr;
    std::memcpy(&function, bytes + at, sizeof function);
    if (function == nullptr) return "its table lacks a required function";
  }
  return "";
}

}  // namespace

Loaded load_backend(const std::string& path, const std::string& name) {
  void* library = open_library(path);
  if (library == nullptr) return {nullptr, reason_of_refusal()};
  void* symbol = dlsym(library, "tessera_backend_v1");
  if (symbol == nullptr) return {nullptr, missing_entry(library)};
  const tessera_backend* table = reinterpret_cast<tessera_backend_entry>(symbol)();
  const std::string reason = check(table, name);
  return reason.empty() ? Loaded{table, ""} : Loaded{nullptr, reason};
}

std::string own_directory() {
  Dl_info info{};
  link_map* map = nullptr;
  const bool known = dladdr1(reinterpret_cast<const void*>(&own_directory), &info, reinterpret_cast<void**>(&map),
                             RTLD_DL_LINKMAP) != 0;
  // The main program's link map has no name, and its argv[0] need not be a path.
  const bool program = !known || map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0';
  const std::string file = real_path(program ? "/proc/self/exe" : map->l_name);
  return file.substr(0, file.rfind('/'));
}

}  // namespace tessera::core
