// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Where plugins are searched: what the system says of the library's place, and what is told of the search.

#include "dispatch/registry.hpp"
#include "dispatch/loader.hpp"

#include "process.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace tessera::test {

using namespace tessera::core;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the directory of a mapped file", "[loader]") {
  const std::string maps =
      "00100000-00101000 r--p 00000000 08:01 42       /opt/one/libtessera.so\n"
      "00101000-00102000 r-xp 00001000 08:01 42       /opt/with  two spaces/libtessera.so.0.1 (deleted)\n"
      "00102000-00103000 r-xp 00000000 08:01 42       /opt/a\\012b (deleted)/c/libtessera.so\n"
      "00104000-00105000 rw-p 00000000 00:00 0 \n"
      "00105000-00106000 r-xp 00000000 00:00 0                          [vdso]\n"
      "00106000-00107000 r-xp 00000000 00:01 7        /memfd:code (deleted)\n"
      "00107000-00108000 r-xp 00000000 08:01 42       relative/libtessera.so\n"
      "00108000-00109000 r-xp 00000000 08:01 42       /libtessera.so\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]\n";
  const auto at = [&](std::uintptr_t address) { return mapped_directory(maps, address); };
  CHECK(at(0x100000) == "/opt/one");
  CHECK(at(0x101fff) == "/opt/with  two spaces");
  CHECK(at(0x102000) == "/opt/a\nb (deleted)/c");
  CHECK(at(0x108000) == "");
  for (const std::uintptr_t address : {0xfffff, 0x103000, 0x104000, 0x105000, 0x106000, 0x107000, 0x109000})
    CHECK_FALSE(at(address).has_value());
  for (const char* text : {"", "\n\n", "nonsense", "0-ffffffff", "0-ffffffff r-xp", "0-ffffffff r-xp 0 0 0"})
    CHECK_FALSE(mapped_directory(text, 0x1000).has_value());
  REQUIRE(own_directory().has_value());
  CHECK(own_directory() == std::filesystem::read_symlink("/proc/self/exe").parent_path());
}

TEST_CASE("the search is told, and an entry that cannot be read is a problem", "[registry]") {
  const TemporaryDirectory folder;
  const std::string path = std::filesystem::canonical(folder.path());
  const Registry fine({{path, "TESSERA_BACKEND_PATH", ""}, {"/nowhere", "beside libtessera", ""}}, 0);
  CHECK(fine.problem() == "");
  REQUIRE(fine.searched().size() == 2);
  CHECK(describe_search(fine.searched()) ==
        "searched for plugins: " + path +
            " (TESSERA_BACKEND_PATH), /nowhere (beside libtessera: " + fine.searched()[1].error + ")");
  CHECK_THAT(fine.searched()[1].error, ContainsSubstring("No such file"));
  const Registry wrong({{path, "TESSERA_BACKEND_PATH", ""}, {path + "/a", "TESSERA_BACKEND_PATH", ""}}, 0);
  CHECK_THAT(wrong.problem(), ContainsSubstring("TESSERA_BACKEND_PATH names '" + path + "/a'") &&
                                  ContainsSubstring("No such file") && ContainsSubstring("remove the entry"));
  const Registry unknown({{"", "beside libtessera", "the system does not tell"}}, 0);
  CHECK(unknown.backends().empty());
  CHECK(describe_search(unknown.searched()) == "searched for plugins: (beside libtessera: the system does not tell)");
  CHECK(describe_search({}) == "searched for plugins: nothing");
}

}  // namespace tessera::test
