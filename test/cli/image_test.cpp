// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// PNG images: every form of them, their channels one by one, and files that are not what they seem.

#include "folder.hpp"
#include "png_file.hpp"

#include <catch2/generators/catch_generators.hpp>

#include <algorithm>
#include <limits>
#include <sstream>

using namespace tessera::test;

namespace {

/// A folder in which an image becomes twice the left neighbour, and what lies beyond the left side is 3.
struct Images : Folder {
  Images() {
    if (!TESSERA_TEST_PNG) SKIP("built without libpng");
    write("t.json", R"([{"offset": [0, -1], "coefficient": 2}])");
  }
  static std::string line(const std::string& in, const std::string& out, const std::string& options = "") {
    return "stencil " + in + " -o " + out + " --taps t.json --boundary nearest,constant:3 " + options;
  }
  std::string doubles(const std::string& in, const std::string& out, const std::string& options = "") const {
    need_backend();
    return runs(line(in, out, options));
  }
  std::string keeps(const std::string& in, const std::string& out, const std::string& options = "") const {
    return doubles(in, out, "--steps 0 " + options);
  }
  /// Keeps an image as an array, which has these elements. Returns what is printed.
  template <class T>
  std::string gives(const std::string& in, const Shape& shape, const std::vector<T>& elements,
                    const std::string& options = "") const {
    const std::string said = keeps(in, "out.npy", options);
    CAPTURE(in, options);
    CHECK(read_npy<T>("out.npy", shape) == elements);
    return said;
  }
  void refuses(const std::string& in, const std::string& message, const std::string& options = "") const {
    fails(line(in, "out.png", options), 1, message);
  }
};

constexpr std::uint32_t kHeight = 5, kWidth = 11;
constexpr PngHeader kHeader{kWidth, kHeight};

/// Samples of all sizes.
std::vector<unsigned> samples(int channels, int depth) {
  std::vector<unsigned> values;
  for (unsigned i = 0; i < kHeight * kWidth * unsigned(channels); ++i) values.push_back(i * 40503u % (1u << depth));
  return values;
}

/// What becomes of an image whose last channel is alpha where there is an even number of them.
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
  const Images w;
  const int channels = channels_of(colour);
  const PngHeader header{kWidth, kHeight, 8 * int(sizeof(T)), colour, interlaced};
  const std::vector<unsigned> in = samples(channels, header.depth);
  w.write("in.png", png_file(header, in));
  const std::string said = w.doubles("in.png", "out.npy");
  CHECK(w.read_npy<T>("out.npy", shape_of(channels)) == expected<T>(in, channels));
  CHECK_THAT(said, says("read as 5 x 11 u" + std::to_string(header.depth) + ",  ... " +
                        (channels > 2 ? "3 channels" : "1 channel") + " ... clamped to 0.."));
  CHECK(says("alpha is kept").match(said) == (channels % 2 == 0));
  // What is written is read: reading was just compared with files made otherwise.
  w.doubles("in.png", "out.png");
  CHECK(w.read("out.png").starts_with("\x89PNG\r\n\x1a\n"));
  w.gives("out.png", shape_of(channels), expected<T>(in, channels));
}

}  // namespace

TEST_CASE("every colour and depth, each channel by itself, alpha kept", "[image]") {
  const PngColour colour = GENERATE(PngColour::grey, PngColour::grey_alpha, PngColour::rgb, PngColour::rgb_alpha);
  const bool interlaced = GENERATE(false, true);
  CAPTURE(int(colour), interlaced);
  SECTION("8 bits") { check_images<std::uint8_t>(colour, interlaced); }
  SECTION("16 bits") { check_images<std::uint16_t>(colour, interlaced); }
}

TEST_CASE("alpha is scaled between 8 and 16 bits, samples are not", "[image]") {
  const Images w;
  const Shape shape{1, 3, 2};
  w.write("8.png", png_file({3, 1, 8, PngColour::grey_alpha}, {9, 0, 10, 128, 200, 255}));
  w.write("16.png", png_file({3, 1, 16, PngColour::grey_alpha}, {9, 128, 10, 129, 300, 65535}));
  CHECK_THAT(w.gives<std::uint16_t>("8.png", shape, {9, 0, 10, 32896, 200, 65535}, "--output-type u16"),
             says("rounded, 0 of 6 clamped to 0..65535; alpha is kept, scaled to 0..65535\n"));
  CHECK_THAT(w.gives<std::uint8_t>("16.png", shape, {9, 0, 10, 1, 255, 255}, "--output-type u8"),  // the sample of 300
             says("rounded, 1 of 6 clamped to 0..255; alpha is kept, scaled to 0..255\n"));
  CHECK_THAT(w.gives<float>("8.png", shape, {9, 0, 10, 128, 200, 255}, "--output-type f32"),
             says("written as f32; alpha is kept\n"));
}

TEST_CASE("fewer bits, palettes and transparent colours become samples of 8 bits", "[image]") {
  const Images w;
  const auto gives = [&](const std::string& file, int channels, const std::vector<std::uint8_t>& elements) {
    w.write("in.png", file);
    w.gives("in.png", shape_of(channels), elements);
  };
  for (const int depth : {1, 2, 4}) {
    std::vector<std::uint8_t> scaled;
    for (const unsigned sample : samples(1, depth)) scaled.push_back(std::uint8_t(sample * 255 / ((1u << depth) - 1)));
    gives(png_file({kWidth, kHeight, depth}, samples(1, depth)), 1, scaled);
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
  gives(png_file(header, samples(1, 2), palette), 3, colours);
  gives(png_file(header, samples(1, 2), palette + png_chunk("tRNS", "\x09")), 4, with_alpha);
}

TEST_CASE("arrays become images, and images arrays", "[image]") {
  const Images w;
  w.write_npy<float>("in.npy", {0.4f, 0.5f, 300.0f, -1.0f, 2.5f, 7.0f}, {2, 3}, true);
  CHECK_THAT(w.keeps("in.npy", "out.png", "--output-type u8"),
             says("written as u8: rounded, 2 of 6 clamped to 0..255"));
  w.gives<std::uint8_t>("out.png", {2, 3}, {0, 0, 255, 0, 2, 7});
  w.gives<float>("out.png", {2, 3}, {0, 0, 255, 0, 2, 7}, "--output-type f32");
  w.refuses("in.npy", "a PNG image holds u8 or u16; the result is f32: --output-type u8 rounds it");
  w.refuses("in.npy", "a PNG image holds u8 or u16; the result is i8", "--output-type i8");
  w.fill("volume.npy", std::uint8_t{1}, {2, 2, 2});
  w.fails("stencil volume.npy -o no.png --named identity", 1,
          "no.png: a PNG image has 2 axes; the result is 2 x 2 x 2 |u1");
}

TEST_CASE("results rescaled to an image", "[image]") {
  const Images w;
  // Heights of a terrain: black in 16 bits, and u8 where nobody says another type.
  w.write_npy<float>("in.npy", {200.0f, 1000.0f, 400.0f}, {1, 3});
  CHECK_THAT(w.keeps("in.npy", "out.png", "--output-type u16"),
             says("the image is almost black: it has 200..1000 of 0..65535, to which --rescale maps it\n"));
  CHECK_THAT(w.keeps("in.npy", "out.png", "--rescale"),
             says("written as u8: 200..1000 mapped to 0..255\n") && !says("almost black"));
  w.gives<std::uint8_t>("out.png", {1, 3}, {0, 255, 64});  // 63.75
  // An image of 16 bits stays one. Its colours are mapped together, its alpha is kept.
  w.write("in.png", png_file({2, 1, 16, PngColour::rgb_alpha}, {0, 1, 2, 7, 3, 4, 5, 65535}));
  const Shape shape{1, 2, 4};
  w.gives<std::uint16_t>("in.png", shape, {0, 13107, 26214, 7, 39321, 52428, 65535, 65535}, "--rescale");
  CHECK_THAT(w.gives<std::uint8_t>("in.png", shape, {0, 51, 102, 0, 153, 204, 255, 255}, "--rescale --output-type u8"),
             says("written as u8: 0..5 mapped to 0..255; alpha is kept, scaled to 0..255\n"));
}

TEST_CASE("the commands of the page on images", "[image]") {
  need_backend();
  const Images w;
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  std::string page = read_file(TESSERA_DOCS "/tutorial-images.md");
  replace(page, "\\\n", "");
  replace(page, "docs/examples", TESSERA_DOCS "/examples");
  replace(page, "build/images", ".");
  std::istringstream lines(page);
  std::string printed;
  int commands = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("tessera stencil ")) {
      printed += w.runs(line.substr(line.find(' ')));
      ++commands;
    }
  CHECK(commands == 5);
  CHECK_THAT(printed, !says("almost black"));
  const std::size_t said = printed.find("read as");  // of the first command
  CHECK_THAT(page, says(printed.substr(said, printed.find('\n', said) - said)));
  for (const char* name : {"hills.png", "blurred.png", "slope.png", "fine.png"})
    CHECK(w.read(name).starts_with("\x89PNG"));
}

TEST_CASE("images that are not what they should be", "[image]") {
  const Images w;
  const std::vector<unsigned> good = samples(1, 8);
  const std::string signature = "\x89PNG\r\n\x1a\n", end = png_chunk("IEND", ""), data = png_data(kHeader, good);
  const auto with = [&](const PngHeader& header) { return signature + png_header(header) + data + end; };
  std::string damaged = png_file(kHeader, good);
  damaged[damaged.size() - 14] ^= 1;  // in the check sum of the data
  const std::string unreadable = "is no PNG image that can be read: ",
                    neither = "is neither a .npy file nor a PNG image";
  const std::pair<std::string, std::string> rows[] = {
      {damaged, unreadable + "IDAT: CRC error"},
      {signature, unreadable + "it is cut off"},
      {signature + data + end, unreadable},
      {with({0, 5}), unreadable},
      {with({0x80000000, 5}), unreadable},
      {with({0x7fffffff, 0x7fffffff}), unreadable},  // beyond libpng's own limits
      {with({1000000, 1000000}), "has 1000000 x 1000000 pixels; images of up to 2^28 pixels are read"},
      {with({16384, 16384}), "claims 16384 x 16384 pixels, which no PNG image of "},
      {with({kWidth, kHeight + 1}), unreadable},  // one row is missing
      {with({kWidth, kHeight, 3}), unreadable},
      {with({kWidth, kHeight, 8, PngColour::palette}), unreadable},
      {signature.substr(0, 7), neither},
      {"GIF89a and so on", neither},
      {"", neither},
  };
  for (const auto& [bytes, message] : rows) {
    w.write("in.png", bytes);
    w.refuses("in.png", "in.png: " + message);
  }
}

TEST_CASE("an image cut off at every byte, or with a byte that differs", "[image]") {
  need_backend();
  const Images w;
  const std::string whole = png_file({4, 3, 16, PngColour::rgb_alpha}, std::vector<unsigned>(48, 1000));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    CAPTURE(at);
    w.write("in.png", whole.substr(0, at));
    CHECK(w.run(Images::line("in.png", "out.png")).exit_code == 1);
    std::string other = whole;
    other[at] = char(other[at] ^ 0x41);
    w.write("in.png", other);
    CHECK(w.run(Images::line("in.png", "out.png")).exit_code == 1);
  }
}

TEST_CASE("what is no image is passed over, whatever its size", "[image]") {
  const Images w;
  const std::vector<unsigned> in = samples(1, 8);
  const std::string chunks = png_chunk("gAMA", std::string("\0\0\xb1\x8f", 4)) +
                             png_chunk("tEXt", std::string(1 << 20, 'x')) + png_chunk("abCd", "private") +
                             png_chunk("sBIT", "\x05");
  w.write("in.png", png_file(kHeader, in, chunks));
  w.doubles("in.png", "out.npy");
  CHECK(w.read_npy<std::uint8_t>("out.npy", shape_of(1)) == expected<std::uint8_t>(in, 1));
}

TEST_CASE("a program built without libpng says so", "[image]") {
  if (TESSERA_TEST_PNG) SKIP("built with libpng");
  const Folder folder;
  folder.write("in.png", png_file(kHeader, samples(1, 8)));
  const std::string message = "is a PNG image, and this program was built without libpng";
  folder.fails("stencil in.png -o out.npy --named identity", 1, "in.png: " + message);
  folder.fails("stencil a.npy -o out.png --named identity", 1, "out.png: " + message);
}
