// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Apart from the backend under test: what TESSERA_REQUIRE_BACKENDS names must be there, also when no conformance test
/// was registered for it because it was not built.

#include "required.hpp"

#include <tessera/tessera.hpp>

#include <catch2/catch_test_macros.hpp>

namespace tessera::test {

TEST_CASE("the required backends are available", "[.required]") {
  if (required_backends().empty()) SKIP("TESSERA_REQUIRE_BACKENDS names no backend");
  for (const std::string& name : required_backends()) {
    INFO("TESSERA_REQUIRE_BACKENDS names " << name);
    CHECK_NOTHROW(Context(name));
  }
}

}  // namespace tessera::test
