// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "dispatch/listing.hpp"

#include "check.hpp"

#include <dirent.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>

namespace tessera::core {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};
struct Close {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

void throw_shortage(int error, const std::string& path) {
  if (error != ENOMEM && error != EMFILE && error != ENFILE) return;
  throw Error(error == ENOMEM ? TESSERA_OUT_OF_MEMORY : TESSERA_BACKEND_UNAVAILABLE,
              path + " cannot be read now: " + std::generic_category().message(error));
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, Free> found(realpath(path.c_str(), nullptr));
  if (found == nullptr) throw_shortage(errno, path);
  return found == nullptr ? "" : found.get();
}

Listing list_directory(const std::string& path) {
  const std::unique_ptr<DIR, Close> directory(opendir(path.c_str()));
  Listing listing;
  if (directory == nullptr) listing.error = errno;
  while (listing.error == 0) {
    errno = 0;
    const dirent* const entry = readdir(directory.get());
    if (entry == nullptr) listing.error = errno;
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") listing.names.emplace_back(name);
  }
  throw_shortage(listing.error, path);
  return listing;
}

}  // namespace tessera::core
