// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// PNG images: every form of them, their channels one by one, and files that are not what they seem.

#include "npy_file.hpp"
#include "png_file.hpp"
#include "program.hpp"

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <sstream>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;

namespace {

void need_png() {
  if (!TESSERA_TEST_PNG) SKIP("built without libpng");
}

class Workplace {
 public:
  std::string path(const std::string& name) const { return folder_.path() / name; }
  /// Twice the left neighbour, and what lies beyond the left side is 3.
  Outcome run(const std::string& in, const std::string& out, std::vector<std::string> arguments = {}) const {
    write_file(path("t.json"), R"([{"offset": [0, -1], "coefficient": 2}])");
    arguments.insert(arguments.begin(), {"stencil", path(in), "-o", path(out), "--taps", path("t.json"), "--boundary",
                                         "nearest,constant:3"});
    return tessera_run(arguments);
  }
  Outcome check_runs(const std::string& in, const std::string& out, std::vector<std::string> arguments = {}) const {
    Outcome outcome = run(in, out, std::move(arguments));
    CAPTURE(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    return outcome;
  }
  void check_fails(const std::string& in, const std::string& out, const std::string& message,
                   std::vector<std::string> arguments = {}) const {
    const Outcome outcome = run(in, out, std::move(arguments));
    CHECK(outcome.exit_code == 1);
    CHECK(outcome.output == "");
    CHECK_THAT(outcome.errors, ContainsSubstring(message));
    CHECK_FALSE(std::filesystem::exists(path(out)));
  }

 private:
  TemporaryDirectory folder_;
};

constexpr std::uint32_t kHeight = 5, kWidth = 11;
constexpr PngHeader kHeader{kWidth, kHeight};

/// Samples of all sizes.
std::vector<unsigned> samples(int channels, int depth) {
  std::vector<unsigned> values;
  for (unsigned i = 0; i < kHeight * kWidth * unsigned(channels); ++i) values.push_back(i * 40503u % (1u << depth));
  return values;
}

int channels_of(PngColour colour) {
  return colour == PngColour::rgb ? 3 : colour == PngColour::grey_alpha ? 2 : colour == PngColour::rgb_alpha ? 4 : 1;
}

/// What run() makes of an image whose last channel is alpha where there is an even number of them.
template <class T>
std::vector<T> expected(const std::vector<unsigned>& in, int channels) {
  std::vector<T> out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t pixel = i / std::size_t(channels), channel = i % std::size_t(channels);
    const bool alpha = channels % 2 == 0 && channel + 1 == std::size_t(channels);
    const unsigned left = pixel % kWidth == 0 ? 3 : in[i - std::size_t(channels)];
    out.push_back(T(alpha ? in[i] : std::min(2 * left, unsigned(std::numeric_limits<T>::max()))));
  }
  return out;
}

Shape shape_of(int channels) { return channels == 1 ? Shape{kHeight, kWidth} : Shape{kHeight, kWidth, channels}; }

template <class T>
void check_images(PngColour colour, bool interlaced) {
  const Workplace w;
  const int channels = channels_of(colour);
  const PngHeader header{kWidth, kHeight, 8 * int(sizeof(T)), colour, interlaced};
  const std::vector<unsigned> in = samples(channels, header.depth);
  write_file(w.path("in.png"), png_file(header, in));
  const Outcome outcome = w.check_runs("in.png", "out.npy");
  CHECK(read_npy<T>(w.path("out.npy"), shape_of(channels)) == expected<T>(in, channels));
  CHECK_THAT(outcome.output, ContainsSubstring("read as 5 x 11 u" + std::to_string(header.depth) + ", ") &&
                                 ContainsSubstring(channels > 2 ? "3 channels" : "1 channel") &&
                                 ContainsSubstring("clamped to 0.."));
  CHECK((outcome.output.find("alpha is kept") != std::string::npos) == (channels % 2 == 0));
  // What is written is read: reading was just compared with files made otherwise.
  w.check_runs("in.png", "out.png");
  CHECK(read_file(w.path("out.png")).starts_with("\x89PNG\r\n\x1a\n"));
  w.check_runs("out.png", "again.npy", {"--steps", "0"});
  CHECK(read_npy<T>(w.path("again.npy"), shape_of(channels)) == expected<T>(in, channels));
}

}  // namespace

TEST_CASE("every colour and depth, each channel by itself, alpha kept", "[image]") {
  need_png();
  need_backend();
  const PngColour colour = GENERATE(PngColour::grey, PngColour::grey_alpha, PngColour::rgb, PngColour::rgb_alpha);
  const bool interlaced = GENERATE(false, true);
  CAPTURE(int(colour), interlaced);
  SECTION("8 bits") { check_images<std::uint8_t>(colour, interlaced); }
  SECTION("16 bits") { check_images<std::uint16_t>(colour, interlaced); }
}

TEST_CASE("alpha is scaled between 8 and 16 bits, samples are not", "[image]") {
  need_png();
  need_backend();
  const Workplace w;
  const auto written = [&](int depth, const char* type, const std::string& said) {
    const std::vector<unsigned> grey_and_alpha = depth == 8 ? std::vector<unsigned>{9, 0, 10, 128, 200, 255}
                                                            : std::vector<unsigned>{9, 128, 10, 129, 300, 65535};
    write_file(w.path("in.png"), png_file({3, 1, depth, PngColour::grey_alpha}, grey_and_alpha));
    const Outcome outcome = w.check_runs("in.png", "out.npy", {"--steps", "0", "--output-type", type});
    CHECK_THAT(outcome.output, ContainsSubstring(said));
  };
  const Shape shape{1, 3, 2};
  written(8, "u16", "rounded, 0 of 6 clamped to 0..65535; alpha is kept, scaled to 0..65535\n");
  CHECK(read_npy<std::uint16_t>(w.path("out.npy"), shape) == std::vector<std::uint16_t>{9, 0, 10, 32896, 200, 65535});
  written(16, "u8", "rounded, 1 of 6 clamped to 0..255; alpha is kept, scaled to 0..255\n");  // the sample of 300
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), shape) == std::vector<std::uint8_t>{9, 0, 10, 1, 255, 255});
  written(8, "f32", "written as f32; alpha is kept\n");
  CHECK(read_npy<float>(w.path("out.npy"), shape) == std::vector<float>{9, 0, 10, 128, 200, 255});
}

TEST_CASE("fewer bits, palettes and transparent colours become samples of 8 bits", "[image]") {
  need_png();
  need_backend();
  const Workplace w;
  const auto read = [&](const std::string& file, int channels) {
    write_file(w.path("in.png"), file);
    w.check_runs("in.png", "out.npy", {"--steps", "0"});
    return read_npy<std::uint8_t>(w.path("out.npy"), shape_of(channels));
  };
  for (const int depth : {1, 2, 4}) {
    CAPTURE(depth);
    std::vector<std::uint8_t> scaled;
    for (const unsigned sample : samples(1, depth)) scaled.push_back(std::uint8_t(sample * 255 / ((1u << depth) - 1)));
    CHECK(read(png_file({kWidth, kHeight, depth}, samples(1, depth)), 1) == scaled);
  }
  const std::string palette = png_chunk("PLTE", std::string("\x01\x02\x03\x11\x12\x13\x21\x22\x23\x31\x32\x33"));
  const PngHeader header{kWidth, kHeight, 2, PngColour::palette};
  std::vector<std::uint8_t> colours, with_alpha;
  for (const unsigned sample : samples(1, 2))
    for (unsigned channel = 0; channel < 4; ++channel) {
      const auto value = std::uint8_t(channel == 3 ? (sample == 0 ? 9 : 255) : 16 * sample + channel + 1);
      if (channel < 3) colours.push_back(value);
      with_alpha.push_back(value);
    }
  CHECK(read(png_file(header, samples(1, 2), palette), 3) == colours);
  CHECK(read(png_file(header, samples(1, 2), palette + png_chunk("tRNS", "\x09")), 4) == with_alpha);
}

TEST_CASE("arrays become images, and images arrays", "[image]") {
  need_png();
  need_backend();
  const Workplace w;
  write_npy<float>(w.path("in.npy"), {0.4f, 0.5f, 300.0f, -1.0f, 2.5f, 7.0f}, {2, 3}, true);
  w.check_fails("in.npy", "out.png", "a PNG image holds u8 or u16; the result is f32: --output-type u8 rounds it");
  w.check_fails("in.npy", "out.png", "a PNG image holds u8 or u16; the result is i8", {"--output-type", "i8"});
  const Outcome outcome = w.check_runs("in.npy", "out.png", {"--output-type", "u8", "--steps", "0"});
  CHECK_THAT(outcome.output, ContainsSubstring("written as u8: rounded, 2 of 6 clamped to 0..255"));
  w.check_runs("out.png", "out.npy", {"--steps", "0"});
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), {2, 3}) == std::vector<std::uint8_t>{0, 0, 255, 0, 2, 7});
  w.check_runs("out.png", "out.npy", {"--steps", "0", "--output-type", "f32"});
  CHECK(read_npy<float>(w.path("out.npy"), {2, 3}) == std::vector<float>{0, 0, 255, 0, 2, 7});
  write_npy<std::uint8_t>(w.path("in.npy"), std::vector<std::uint8_t>(8, 1), {2, 2, 2});
  const Outcome volume = tessera_run({"stencil", w.path("in.npy"), "-o", w.path("no.png"), "--named", "identity"});
  CHECK(volume.exit_code == 1);
  CHECK_THAT(volume.errors, ContainsSubstring("no.png: a PNG image has 2 axes; the result is 2 x 2 x 2 |u1"));
}

TEST_CASE("results rescaled to an image", "[image]") {
  need_png();
  need_backend();
  const Workplace w;
  const auto steps_and = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--steps", "0"});
    return more;
  };
  // Heights of a terrain: black in 16 bits, and u8 where nobody says another type.
  write_npy<float>(w.path("in.npy"), {200.0f, 1000.0f, 400.0f}, {1, 3});
  const Outcome dark = w.check_runs("in.npy", "out.png", steps_and({"--output-type", "u16"}));
  CHECK_THAT(dark.output,
             ContainsSubstring("the image is almost black: it has 200..1000 of 0..65535, to which --rescale "
                               "maps it\n"));
  const Outcome outcome = w.check_runs("in.npy", "out.png", steps_and({"--rescale"}));
  CHECK_THAT(outcome.output,
             ContainsSubstring("written as u8: 200..1000 mapped to 0..255\n") && !ContainsSubstring("almost black"));
  w.check_runs("out.png", "out.npy", steps_and({}));
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), {1, 3}) == std::vector<std::uint8_t>{0, 255, 64});  // 63.75
  // An image of 16 bits stays one. Its colours are mapped together, its alpha is kept.
  write_file(w.path("in.png"), png_file({2, 1, 16, PngColour::rgb_alpha}, {0, 1, 2, 7, 3, 4, 5, 65535}));
  w.check_runs("in.png", "out.npy", steps_and({"--rescale"}));
  CHECK(read_npy<std::uint16_t>(w.path("out.npy"), {1, 2, 4}) ==
        std::vector<std::uint16_t>{0, 13107, 26214, 7, 39321, 52428, 65535, 65535});
  const Outcome scaled = w.check_runs("in.png", "out.npy", steps_and({"--rescale", "--output-type", "u8"}));
  CHECK_THAT(scaled.output,
             ContainsSubstring("written as u8: 0..5 mapped to 0..255; alpha is kept, scaled to 0..255\n"));
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), {1, 2, 4}) ==
        std::vector<std::uint8_t>{0, 51, 102, 0, 153, 204, 255, 255});
}

TEST_CASE("the commands of the page on images", "[image]") {
  need_png();
  need_backend();
  const TemporaryDirectory folder;
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  std::string page = read_file(TESSERA_DOCS "/tutorial-images.md");
  replace(page, "\\\n", "");
  replace(page, "docs/examples", TESSERA_DOCS "/examples");
  replace(page, "build/images", folder.path());
  std::istringstream lines(page);
  std::string printed;
  int commands = 0;
  for (std::string line, word; std::getline(lines, line);) {
    if (!line.starts_with("tessera stencil ")) continue;
    CAPTURE(line);
    std::vector<std::string> words;
    for (std::istringstream rest(line); rest >> word;) words.push_back(word);
    const Outcome outcome = tessera_run({words.begin() + 1, words.end()});
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.output, !ContainsSubstring("almost black"));
    printed += outcome.output;
    ++commands;
  }
  CHECK(commands == 5);
  const std::size_t said = printed.find("read as");  // of the first command
  CHECK_THAT(page, ContainsSubstring(printed.substr(said, printed.find('\n', said) - said)));
  for (const char* name : {"hills.png", "blurred.png", "slope.png", "fine.png"})
    CHECK(read_file(folder.path() / name).starts_with("\x89PNG"));
}

TEST_CASE("images that are not what they should be", "[image]") {
  need_png();
  const Workplace w;
  const std::vector<unsigned> good = samples(1, 8);
  const std::string signature = "\x89PNG\r\n\x1a\n", end = png_chunk("IEND", ""), data = png_data(kHeader, good);
  const auto check = [&](const std::string& bytes, const std::string& message) {
    CAPTURE(message);
    write_file(w.path("in.png"), bytes);
    w.check_fails("in.png", "out.png", "in.png: " + message);
  };
  const auto of_size = [&](std::uint32_t width, std::uint32_t height) {
    return signature + png_header({width, height}) + data + end;
  };
  std::string damaged = png_file(kHeader, good);
  damaged[damaged.size() - 14] ^= 1;  // in the check sum of the data
  check(damaged, "is no PNG image that can be read: IDAT: CRC error");
  check(signature, "is no PNG image that can be read: it is cut off");
  check(signature + data + end, "is no PNG image that can be read");
  check(of_size(0, 5), "is no PNG image that can be read");
  check(of_size(0x80000000, 5), "is no PNG image that can be read");
  check(of_size(0x7fffffff, 0x7fffffff), "is no PNG image that can be read");  // beyond libpng's own limits
  check(of_size(1000000, 1000000), "has 1000000 x 1000000 pixels; images of up to 2^28 pixels are read");
  check(of_size(16384, 16384), "claims 16384 x 16384 pixels, which no PNG image of ");
  check(of_size(kWidth, kHeight + 1), "is no PNG image that can be read");  // one row is missing
  check(signature + png_header({kWidth, kHeight, 3}) + data + end, "is no PNG image that can be read");
  check(signature + png_header({kWidth, kHeight, 8, PngColour::palette}) + data + end, "is no PNG image");
  for (const std::string& other : {signature.substr(0, 7), std::string("GIF89a and so on"), std::string()})
    check(other, "is neither a .npy file nor a PNG image");
}

TEST_CASE("an image cut off at every byte, or with a byte that differs", "[image]") {
  need_png();
  need_backend();
  const Workplace w;
  const std::string whole = png_file({4, 3, 16, PngColour::rgb_alpha}, std::vector<unsigned>(48, 1000));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    write_file(w.path("in.png"), whole.substr(0, at));
    CHECK(w.run("in.png", "out.png").exit_code == 1);
    std::string other = whole;
    other[at] = char(other[at] ^ 0x41);
    write_file(w.path("in.png"), other);
    CHECK(w.run("in.png", "out.png").exit_code == 1);
  }
}

TEST_CASE("what is no image is passed over, whatever its size", "[image]") {
  need_png();
  need_backend();
  const Workplace w;
  const std::vector<unsigned> in = samples(1, 8);
  const std::string chunks = png_chunk("gAMA", std::string("\0\0\xb1\x8f", 4)) +
                             png_chunk("tEXt", std::string(1 << 20, 'x')) + png_chunk("abCd", "private") +
                             png_chunk("sBIT", "\x05");
  write_file(w.path("in.png"), png_file(kHeader, in, chunks));
  const Outcome outcome = w.check_runs("in.png", "out.npy");
  CHECK(outcome.errors == "");
  CHECK(read_npy<std::uint8_t>(w.path("out.npy"), shape_of(1)) == expected<std::uint8_t>(in, 1));
}

TEST_CASE("a program built without libpng says so", "[image]") {
  if (TESSERA_TEST_PNG) SKIP("built with libpng");
  const Workplace w;
  write_file(w.path("in.png"), png_file(kHeader, samples(1, 8)));
  write_npy<std::uint8_t>(w.path("in.npy"), {1, 2, 3}, {3, 1});
  w.check_fails("in.png", "out.npy", "in.png: is a PNG image, and this program was built without libpng");
  w.check_fails("in.npy", "out.png", "out.png: is a PNG image, and this program was built without libpng");
}
