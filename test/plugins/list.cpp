// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Prints every backend's name and the reason why it cannot be used, a line each.
///   list [--user ID] [--go DIRECTORY] [--searched]
/// --user: becomes that user and starts this program again. --go: changes the current directory first. --searched:
/// prints the directories that were searched instead, behind "secure" or "ordinary".

#include <tessera/tessera.h>

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  bool searched = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--user") == 0 && i + 1 < argc) {
      const unsigned id = unsigned(std::atoi(argv[i + 1]));
      if (setgid(id) != 0 || setuid(id) != 0) return 3;
      argv[i + 1] = argv[0];
      execv(argv[0], argv + i + 1);
      return 3;
    }
    if (std::strcmp(argv[i], "--go") == 0 && i + 1 < argc && chdir(argv[++i]) != 0) return 3;
    searched |= std::strcmp(argv[i], "--searched") == 0;
  }
  if (searched) std::puts(getauxval(AT_SECURE) != 0 ? "secure" : "ordinary");
  for (std::int64_t i = 0; searched; ++i) {
    const char* path = tessera_backend_directory(i, nullptr, nullptr);
    if (path == nullptr) return 0;
    std::puts(path);
  }
  for (std::int64_t i = 0; i < tessera_backend_count(); ++i) {
    tessera_backend_info info{};
    info.struct_size = sizeof info;
    if (tessera_get_backend_info(i, &info, nullptr) != TESSERA_OK) return 4;
    std::printf("%s\n%s\n", info.name, info.reason);
  }
}
