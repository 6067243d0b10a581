// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "pictures.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace showcase {
namespace {

std::string json(const std::string& text) { return "\"" + text + "\""; }

std::string json(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

std::string json(const Axis& axis) {
  return "{\"label\": " + json(axis.label) + ", \"low\": " + json(axis.low) + ", \"high\": " + json(axis.high) + "}";
}

std::string json(const Color& c) { return "[" + json(c.red) + ", " + json(c.green) + ", " + json(c.blue) + "]"; }

std::string json(const Caption& caption, const Image& image) {
  std::string stops;
  for (const Color& color : image.scale) stops += (stops.empty() ? "" : ", ") + json(color);
  return "{\"file\": " + json(caption.file) + ", \"shows\": " + json(caption.shows) + ", \"x\": " + json(caption.x) +
         ", \"y\": " + json(caption.y) + ", \"axes_are_alike\": " + (caption.axes_are_alike ? "true" : "false") +
         ", \"colors\": " + json(Axis{caption.colors, image.low, image.high}) + ", \"stops\": [" + stops + "]}";
}

/// The exit code of a Python program, 127 where there is no Python.
int run_python(const std::string& script, const std::string& folder) {
  constexpr int kNotFound = 127;
  std::string program = "python3", file = script, argument = folder;
  char* const arguments[] = {program.data(), file.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0) return kNotFound;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

}  // namespace

Pictures::Pictures(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
}

void Pictures::add(const Caption& caption, const Image& image, std::int64_t scale) {
  write_png(folder_ / caption.file, image, scale);
  captions_.push_back(caption);
  descriptions_ += (descriptions_.empty() ? "[" : ",\n ") + json(caption, image);
}

void Pictures::finish() const {
  if (captions_.empty()) return;
  const std::filesystem::path file = folder_ / "pictures.json";
  std::ofstream out(file);
  out << descriptions_ << "]\n";
  out.close();
  if (!out) throw std::runtime_error(file.native() + ": cannot be written");
  std::printf("\nPictures in %s:\n", folder_.c_str());
  for (const Caption& caption : captions_) std::printf("  %-15s  %s\n", caption.file.c_str(), caption.shows.c_str());
  std::fflush(stdout);  // Python prints as well
  if (run_python(TESSERA_SHOWCASE_FIGURES, folder_) == 127)
    std::printf("Without titles and scales: they are drawn by python3, which was not found.\n");
}

}  // namespace showcase
