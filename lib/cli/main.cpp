// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.hpp"

#include <cstdio>
#include <exception>
#include <new>

namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

int fail(const char* message) {
  std::fprintf(stderr, "tessera: error: %s\n", message);
  return kFailure;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Matrix products and stencils on .npy files, on the backends that are found when the program runs.",
               "tessera");
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 the command line is wrong. A failed run leaves the output file as it was.");
  app.set_version_flag("--version", std::string("tessera ") + tessera_version());
  app.require_subcommand(1);
  tessera::cli::Run run;
  tessera::cli::add_info(app, run);
  tessera::cli::add_gemm(app, run);
  tessera::cli::add_stencil(app, run);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  try {
    run();
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return fail("standard output cannot be written");
  return kOk;
}
