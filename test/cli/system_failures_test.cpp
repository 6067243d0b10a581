// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// Systems that are refused: with the place, what was found and what is expected, and no trace in the file system.

#include "npy_file.hpp"
#include "program.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace tessera::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

using Arguments = std::vector<std::string>;

const std::string kGood = R"json({"extents": [4, 5],
  "fields": {"u": {"kind": "state", "levels": 2}, "c2": {"kind": "array"}, "s": {"kind": "profile", "axis": 0}},
  "updates": [{"field": "u", "value": "s * (2 * u - u[-1] + c2 * laplacian(u, 2))"}],
  "injections": [{"field": "u", "points": [{"at": [1, 1]}]}],
  "recordings": [{"field": "u", "points": [{"at": [1, 1]}]}]})json";

/// A folder with good inputs, which a failing run must leave as it was.
class Workplace {
 public:
  Workplace() {
    write_npy(path("u.npy"), std::vector<float>(20, 1.0f), {4, 5});
    write_npy(path("wide.npy"), std::vector<float>(24, 1.0f), {4, 6});
    write_npy(path("s.npy"), std::vector<float>(4, 1.0f), {4});
    write_npy(path("source.npy"), std::vector<float>(3, 1.0f), {3, 1});
    write_npy(path("deep.npy"), std::vector<float>(20, 1.0f), {4, 5, 1, 1});
    write_file(path("old.npy"), "the old output");
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }

  /// With "@" before a file's name replaced by the folder.
  Outcome run(const std::string& json, const Arguments& arguments) const {
    write_file(path("system.json"), json);
    Arguments all{"system", path("system.json")};
    for (std::string argument : arguments) {
      for (std::size_t at; (at = argument.find('@')) != std::string::npos;) argument.replace(at, 1, path(""));
      all.push_back(argument);
    }
    return tessera_run(all);
  }

  void check_fails(const std::string& json, const Arguments& arguments, int exit_code,
                   const std::vector<std::string>& message) const {
    CAPTURE(json, arguments);
    write_file(path("system.json"), json);
    const std::vector<std::string> before = list(folder_.path());
    const Outcome outcome = run(json, arguments);
    CHECK(outcome.exit_code == exit_code);
    CHECK(outcome.output == "");
    CHECK_THAT(outcome.errors, StartsWith("tessera: error: ") && !ContainsSubstring("json.exception"));
    for (const std::string& part : message) CHECK_THAT(outcome.errors, ContainsSubstring(part));
    CHECK(list(folder_.path()) == before);
    CHECK(read_file(path("old.npy")) == "the old output");
  }

 private:
  TemporaryDirectory folder_;
};

const Arguments kArguments{"--field",    "u=@u.npy,zeros", "--field",    "c2=@u.npy", "--field", "s=@s.npy",
                           "--injected", "@source.npy",    "--recorded", "@new.npy",  "--steps", "3",
                           "-o",         "u=@old.npy"};

/// The good command line with one argument in the place of another; "" takes it away, with its option.
Arguments instead(const std::string& old, const std::string& now) {
  Arguments result;
  for (const std::string& argument : kArguments) {
    result.push_back(argument == old ? now : argument);
    if (argument == old && now.empty()) result.resize(result.size() - 2);
  }
  return result;
}
Arguments with(const Arguments& more) {
  Arguments result = kArguments;
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

/// The good description with one text in the place of another.
std::string described(const std::string& old, const std::string& now, std::string json = kGood) {
  const std::size_t at = json.find(old);
  REQUIRE(at != std::string::npos);
  return json.replace(at, old.size(), now);
}

}  // namespace

TEST_CASE("the good system runs", "[system_failures]") {
  need_backend();
  const Workplace w;
  const Outcome outcome = w.run(kGood, kArguments);
  CHECK(outcome.errors == "");
  CHECK(outcome.exit_code == 0);
  CHECK(read_npy<float>(w.path("old.npy"), {4, 5}).size() == 20);
}

TEST_CASE("descriptions that are refused", "[system_failures]") {
  const Workplace w;
  const auto refuses = [&](const std::string& old, const std::string& now, const std::string& message) {
    w.check_fails(described(old, now), kArguments, 1, {"system.json: " + message});
  };
  w.check_fails("", kArguments, 1, {"system.json: is not JSON at its end"});
  w.check_fails("[1]", kArguments, 1, {"system.json: the file is a list; expected an object"});
  w.check_fails("{\"fields\":\n ?}", kArguments, 1, {"is not JSON at line 2, column 2"});
  w.check_fails("{\"fields\": {}}", kArguments, 1, {"fields: there are none"});
  w.check_fails("{}", kArguments, 1, {"system.json: the key \"fields\" is missing"});
  refuses("\"extents\"", "\"extent\"", "the key \"extent\" is unknown; there are \"dtype\", \"extents\", ");
  refuses("[4, 5]", "[4, 0]", "extents[1] is 0; expected a whole number from 1 to 2^63 - 1");
  refuses("[4, 5]", "[4, 5, 1, 1]", "extents: has 4 numbers; expected 1, 2 or 3");
  refuses("{\"extents\"", "{\"dtype\": \"f16\", \"extents\"", "dtype is \"f16\"; expected \"f32\" or \"f64\"");
  refuses("\"state\"", "\"sate\"", "fields.u.kind is \"sate\"; expected \"state\", \"array\" or \"profile\"");
  refuses("\"levels\": 2", "\"levels\": 4", "fields.u.levels is 4; expected a whole number from 1 to 3");
  refuses("\"array\"}", "\"array\", \"levels\": 1}", "fields.c2: the key \"levels\" is unknown; there are \"kind\", ");
  refuses("\"profile\", \"axis\": 0", "\"profile\"", "fields.s: the key \"axis\" is missing");
  refuses("\"axis\": 0", "\"axis\": 2", "fields.s.axis is 2; the system has 2 axes");
  refuses("\"c2\": {", "\"u\": {", "the key \"u\" is there twice");
  refuses("\"c2\": {", "\"abs\": {", "fields.abs: is a function of expressions; choose another name");
  refuses("\"c2\": {", "\"2c\": {", "fields.\"2c\": a name is a letter or _");
  refuses("\"levels\": 2", "\"boundary\": \"wrap\"", "fields.u.boundary: boundary 'wrap' is unknown");
  refuses("\"levels\": 2", "\"levels\": 2, \"boundary\": [\"fixed\", \"fixed\", \"fixed\"]",
          "boundary of 'u' of 3 axes");
  refuses("\"levels\": 2", "\"levels\": 2, \"next\": \"here\"", "fields.u.next is \"here\"; expected \"automatic\"");
  refuses("\"array\"", "\"array\", \"dtype\": \"f8\"", "fields.c2.dtype: the type: 'f8' is not a type; there are f32");
}

TEST_CASE("updates, taps and points that are refused", "[system_failures]") {
  const Workplace w;
  const auto refuses = [&](const std::string& old, const std::string& now, const std::string& message) {
    w.check_fails(described(old, now), kArguments, 1, {"system.json: " + message});
  };
  refuses("[{\"field\": \"u\", \"value\"", "[{\"field\": \"c2\", \"value\"",
          "updates[0].field: there is no state \"c2\"; there are u");
  refuses("c2 * lap", "c3 * lap", "updates[0].value: column 22: there is no field \"c3\"; there are u, c2, s, abs(), ");
  refuses("u[-1]", "u(1)", "updates[0].value: column 15: offset of 1 axes: the system has 2");
  refuses("\"value\"", "\"low\": [0], \"value\"", "updates[0].low: has 1 numbers; expected 2, one for each axis");
  refuses("\"value\"", "\"high\": [4, 6], \"value\"", "updates[0].high[1] is 6; expected a whole number from 1 to 5");
  refuses("\"value\"", "\"stage\": 64, \"value\"", "updates[0].stage is 64; expected a whole number from 0 to 63");
  refuses("\"updates\"", "\"taps\": {\"u\": [[0, 0, 1]]}, \"updates\"", "taps.u: is a field as well");
  refuses("\"updates\"", "\"taps\": {\"t\": [[0, 1]]}, \"updates\"",
          "taps.t[0]: has 2 numbers; expected 2 of an offset");
  refuses("\"updates\"", "\"taps\": {\"t\": []}, \"updates\"", "taps.t: has 0 taps; expected 1 to 4096");
  refuses("\"updates\"", "\"taps\": {\"t\": [[0, 0, NaN]]}, \"updates\"", "is not JSON at line 3, column 25");
  refuses("\"updates\"", "\"taps\": {\"t\": [[0, 0, 1e999]]}, \"updates\"", "has a number beyond the range of double");
  refuses("\"at\": [1, 1]", "\"at\": [1, 5]",
          "injections[0].points[0].at[1] is 5; expected a whole number from 0 to 4");
  refuses("\"at\": [1, 1]", "\"at\": [1]", "injections[0].points[0].at: has 1 numbers; expected 2");
  refuses("\"at\": [1, 1]", "\"at\": [1, 1], \"weight\": \"1\"",
          "injections[0].points[0].weight is \"1\"; expected a finite number");
  refuses("\"at\": [1, 1]", "\"at\": [1, 1], \"series\": 1",
          "injections[0].points[0].series is 1; expected a whole number from 0 to 0");
  refuses("\"points\"", "\"series\": 2, \"points\"",
          "injections[0].points[0]: the key \"series\" is missing; there are 2");
}

TEST_CASE("what the library refuses of a system", "[system_failures]") {
  need_backend();
  const Workplace w;
  const auto refuses = [&](const std::string& old, const std::string& now, const std::string& message) {
    w.check_fails(described(old, now), kArguments, 1, {message});
  };
  refuses("u[-1]", "u[-2]", "level = -2: 'u' has the levels -1 to 0");
  refuses("u[-1]", "c2[-1]", "'c2' is only read and has one level");
  refuses("2 * u", "1e200 * u", "must be finite when rounded to f32");
  const std::string in_place = described("\"levels\": 2", "\"levels\": 2, \"next\": \"in_place\"");
  w.check_fails(described("u[-1]", "u[-1](1,0)", in_place), kArguments, 1, {"fields[0].next = in place: "});
}

TEST_CASE("arrays that do not suit the description", "[system_failures]") {
  const Workplace w;
  const auto refuses = [&](const Arguments& arguments, const std::string& message) {
    w.check_fails(kGood, arguments, 1, {message});
  };
  refuses(instead("c2=@u.npy", "c2=@wide.npy"),
          "wide.npy: holds 4 x 6 <f4; 'c2' is 4 x 5, as " + w.path("system.json") + " says");
  refuses(instead("s=@s.npy", "s=@u.npy"), "u.npy: holds 4 x 5 <f4; 's' is 4, as ");
  refuses(instead("c2=@u.npy", "c2=@deep.npy"), "deep.npy: holds 4 x 5 x 1 x 1 <f4; 'c2' is 4 x 5");
  refuses(instead("c2=@u.npy", "c2=@none.npy"), "none.npy: cannot be read: No such file");
  refuses(instead("c2=@u.npy", "c3=@u.npy"), "system.json: has no field \"c3\"; there are u, c2, s");
  refuses(instead("c2=@u.npy", ""), "system.json: c2 has no file: give --field c2=FILE, or zeros for a file");
  refuses(instead("u=@u.npy,zeros", "u=@u.npy"),
          "system.json: u[-1] has no file: give --field u=NOW,BEFORE, or zeros for a file");
  refuses(instead("u=@u.npy,zeros", "u=@u.npy,@u.npy,@u.npy"), "--field gives u[-2], but 'u' has 2 levels");
  refuses(instead("3", "4"), "source.npy: has 3 rows; 4 steps from row 0 on take more of injections[0]");
  refuses(with({"--first-step", "1"}), "source.npy: has 3 rows; 3 steps from row 1 on");
  refuses(instead("@source.npy", "@u.npy"), "u.npy: holds 4 x 5 <f4; injections[0] takes rows x 1, a row a step");
  refuses(instead("@source.npy", ""), "has 1 injection, but --injected is given 0 times: give it once for each");
  refuses(with({"--recorded", "@more.npy"}), "has 1 recording, but --recorded is given 2 times");
  const std::string open = described("\"extents\": [4, 5],", "");
  w.check_fails(open, instead("c2=@u.npy", "c2=@wide.npy"), 1, {"'c2' is 4 x 5, as " + w.path("u.npy") + " says"});
  Arguments zeros = instead("u=@u.npy,zeros", "u=zeros");
  std::replace(zeros.begin(), zeros.end(), std::string("c2=@u.npy"), std::string("c2=zeros"));
  w.check_fails(open, zeros, 1, {"system.json: has no \"extents\", and no state or array has a file that gives them"});
  w.check_fails(open, instead("u=@u.npy,zeros", "u=@deep.npy,zeros"), 1, {"deep.npy: holds an array of 4 axes"});
  w.check_fails(described("[4, 5]", "[4000000000, 4000000000]"), zeros, 1,
                {"system.json: extents of 4000000000 x 4000000000: arrays must stay below 2^63 bytes"});
}

TEST_CASE("outputs of a system that are refused", "[system_failures]") {
  const Workplace w;
  const auto refuses = [&](const Arguments& arguments, int exit_code, const std::string& message) {
    w.check_fails(kGood, arguments, exit_code, {message});
  };
  refuses(with({"-o", "c2=@c2.npy"}), 1, "system.json: 'c2' is only read; --output writes states");
  refuses(with({"-o", "x=@x.npy"}), 1, "system.json: has no field \"x\"; there are u, c2, s");
  refuses(with({"-o", "u[-2]=@x.npy"}), 1, "--output asks for u[-2], but 'u' has 2 levels");
  refuses(with({"-o", "u[-1]=@no/such/folder.npy"}), 1, "cannot be written: No such file or directory");
  refuses(with({"-o", "u[-1]=@x.png"}), 1, "its ending '.png' is unknown");
  refuses(with({"-o", "u=@x.npy"}), 2, "--output names u twice");
  refuses(with({"-o", "u[-1]=@new.npy"}), 2, "two outputs go to '");
  refuses(with({"-o", "u[-1]"}), 2, "--output 'u[-1]': expected NAME=FILE or NAME[-1]=FILE");
  refuses(with({"-o", "u[1]=@x.npy"}), 2, "column 3: found \"1\"; expected a level from -2 to 0");
  refuses(with({"-o", "u[-1=@x.npy"}), 2, "column 5: found the end; expected ]");
  refuses(with({"--field", "u=@u.npy"}), 2, "--field names u twice");
  refuses(with({"--field", "=@u.npy"}), 2, "column 1: found the end; expected the name of a field");
  refuses(instead("u=@u.npy,zeros", "u=@u.npy,"), 2, "a file has no name");
  refuses({"--field", "u=zeros"}, 2, "nothing is written: give --output NAME=FILE or --recorded FILE");
  refuses({"--field", "u=zeros", "-o", "u=@x.npy", "--first-step", "1"}, 2, "--injected");
  refuses(with({"--steps", "-1"}), 2, "--steps");
  refuses(with({"--feild", "u=zeros"}), 2, "did you mean --field?");
}

TEST_CASE("a system on a backend or by an algorithm that is unknown", "[system_failures]") {
  need_backend();
  const Workplace w;
  w.check_fails(kGood, with({"--backend", "nonsense"}), 1, {"nonsense"});
  w.check_fails(kGood, with({"--algorithm", "nonsense"}), 1, {"nonsense"});
}
