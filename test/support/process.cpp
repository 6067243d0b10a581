// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "process.hpp"

#include <tessera/types.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/// The library's, where the test is linked with it: it reads the environment once, so a change must be told.
extern "C" __attribute__((weak)) tessera_status tessera_reload_environment(tessera_error* error);

namespace tessera::test {

namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void set_variable(const std::string& name, const std::optional<std::string>& value) {
  if (value)
    setenv(name.c_str(), value->c_str(), 1);
  else
    unsetenv(name.c_str());
}

/// In the child: never returns.
[[noreturn]] void become(const std::vector<std::string>& argv, const std::string& output, const std::string& errors,
                         const std::map<std::string, std::optional<std::string>>& environment) {
  for (const auto& [name, value] : environment) set_variable(name, value);
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
  const int out = open(output.c_str(), flags, 0600), err = open(errors.c_str(), flags, 0600);
  if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0) _exit(126);
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

Outcome run(const std::vector<std::string>& argv,
            const std::map<std::string, std::optional<std::string>>& environment) {
  const TemporaryDirectory directory;
  const std::string output = directory.path() / "stdout", errors = directory.path() / "stderr";
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) become(argv, output, errors, environment);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.output = read_file(output);
  outcome.errors = read_file(errors);
  return outcome;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "tessera-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ScopedVariable::ScopedVariable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
  if (const char* old = std::getenv(name_.c_str())) before_ = old;
  change(value);
}

ScopedVariable::~ScopedVariable() { change(before_); }

void ScopedVariable::change(const std::optional<std::string>& value) {
  set_variable(name_, value);
  if (tessera_reload_environment != nullptr) tessera_reload_environment(nullptr);
}

}  // namespace tessera::test
