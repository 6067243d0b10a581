// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "spec.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <stdexcept>
#include <utility>

namespace tessera::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTaps = std::size_t{1} << 22;
constexpr int kDeepest = 4;  // the numbers of {"taps": [[...]]} have a depth of 3

constexpr Named<Bias> kBiases[] = {{"per_row", Bias::per_row},
                                   {"per_column", Bias::per_column},
                                   {"gradient_per_row", Bias::gradient_per_row},
                                   {"gradient_per_column", Bias::gradient_per_column}};
constexpr Named<Aux> kAuxes[] = {{"store", Aux::store}, {"derivative", Aux::derivative}};
constexpr Named<Memory> kMemories[] = {{"host", Memory::host}, {"device", Memory::device}};

/// A problem's members, by name; each mistake names the one.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {
    if (!object.is_object()) throw std::invalid_argument("the problem is no JSON object");
  }

  bool has(const char* name) const { return object_.contains(name); }
  const json& at(const char* name) const {
    if (!has(name)) throw std::invalid_argument("the problem has no member '" + std::string(name) + "'");
    return object_.at(name);
  }
  std::int64_t whole(const char* name) const { return whole(at(name), name); }
  std::string text(const char* name) const {
    if (!at(name).is_string()) fail(name, at(name), "a string");
    return at(name).get<std::string>();
  }
  Transpose transpose(const char* name) const {
    if (!at(name).is_boolean()) fail(name, at(name), "true or false");
    return at(name).get<bool>() ? Transpose::yes : Transpose::no;
  }
  DType dtype(const char* name) const { return parse_element_type(text(name), name); }
  /// The value of the name among those that are known.
  template <class Value, std::size_t kCount>
  Value named(const char* name, const Named<Value> (&known)[kCount]) const {
    if (const std::optional<Value> value = find(text(name), known)) return *value;
    fail(name, at(name), "one of " + npy::joined(known, ", ", [](const auto& one) { return one.name; }));
  }
  const json& list(const char* name, std::size_t size) const { return list(at(name), name, size); }
  std::vector<std::int64_t> wholes(const char* name, std::size_t size) const {
    std::vector<std::int64_t> values;
    for (const json& value : list(name, size)) values.push_back(whole(value, name));
    return values;
  }

  static const json& list(const json& value, const char* name, std::size_t size) {
    if (!value.is_array() || value.size() != size) fail(name, value, "a list of " + std::to_string(size));
    return value;
  }
  static std::int64_t whole(const json& value, const char* name) {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t(INT64_MAX));
    if (!fits) fail(name, value, "a whole number below 2^63");
    return value.get<std::int64_t>();
  }
  /// Numbers that JSON cannot write are strings.
  static double number(const json& value, const char* name) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (value == "inf") return kInfinity;
    if (value == "-inf") return -kInfinity;
    if (!value.is_number()) fail(name, value, "a number");
    return value.get<double>();
  }
  [[noreturn]] static void fail(const char* name, const json& value, const std::string& expected) {
    throw std::invalid_argument("member '" + std::string(name) + "' of the problem is " +
                                npy::clip(value.dump(-1, ' ', true, json::error_handler_t::replace)) + "; expected " +
                                expected);
  }

 private:
  const json& object_;
};

/// The column-major product that the core makes this row-major one of.
GemmDesc turned(GemmDesc d) {
  d.order = Order::column_major;
  if (d.dtype_b) std::swap(d.dtype, *d.dtype_b);
  std::swap(d.m, d.n), std::swap(d.trans_a, d.trans_b);
  std::swap(d.lda, d.ldb), std::swap(d.stride_a, d.stride_b);
  if (d.bias != Bias::none) d.bias = Bias(((int(d.bias) - 1) ^ 1) + 1);  // row for column
  if (d.triangle == Triangle::lower || d.triangle == Triangle::upper) d.triangle = Triangle(3 - int(d.triangle));
  return d;
}

GemmDesc parse_gemm(const Members& m) {
  GemmDesc d;
  d.m = m.whole("m"), d.n = m.whole("n"), d.k = m.whole("k");
  d.dtype = m.dtype("dtype");
  if (m.has("dtype_b")) d.dtype_b = m.dtype("dtype_b");
  d.dtype_d = m.dtype("dtype_d");
  d.trans_a = m.transpose("trans_a"), d.trans_b = m.transpose("trans_b");
  d.lda = m.whole("lda"), d.ldb = m.whole("ldb"), d.ldc = m.whole("ldc"), d.ldd = m.whole("ldd");
  if (m.has("batch")) {
    d.batch = m.whole("batch");
    d.stride_a = m.whole("stride_a"), d.stride_b = m.whole("stride_b");
    d.stride_c = m.whole("stride_c"), d.stride_d = m.whole("stride_d");
  }
  d.compute = m.named("compute", kComputes);
  if (m.has("bias")) {
    d.bias = m.named("bias", kBiases);
    d.dtype_bias = m.dtype("dtype_bias");
    d.bias_increment = m.whole("bias_increment");
    d.bias_stride = m.whole("bias_stride");
  }
  if (m.has("activation")) d.activation = m.named("activation", kActivations);
  if (m.has("aux")) {
    d.aux = m.named("aux", kAuxes);
    d.ldaux = m.whole("ldaux"), d.stride_aux = m.whole("stride_aux");
  }
  if (m.has("triangle")) d.triangle = m.named("triangle", kTriangles);
  if (m.has("sums")) {
    const bool by_columns = m.text("sums") == "ordered_columns";
    d.sums = by_columns ? Sums::ordered : m.named("sums", kSums);
    if (m.has("whole_n")) d.whole_n = m.whole("whole_n");
    if (by_columns) d = turned(d);
  }
  return d;
}

Boundary parse_mode(const json& value) {
  for (const Boundary mode : kBoundaries)
    if (value == name_of(mode)) return mode;
  Members::fail("boundary", value, "a mode");
}

Boundaries parse_sides(const Members& m, std::size_t rank) {
  std::vector<BoundaryAxis> axes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const json& modes = Members::list(m.list("boundary", rank)[axis], "boundary", 2);
    const json& values = Members::list(m.list("boundary_value", rank)[axis], "boundary_value", 2);
    const auto side = [&](std::size_t i) {
      return BoundarySide(parse_mode(modes[i]), Members::number(values[i], "boundary_value"));
    };
    axes.emplace_back(side(0), side(1));
  }
  return Boundaries(axes);
}

StencilDesc parse_stencil(const Members& m) {
  if (!m.at("extents").is_array() || m.at("extents").empty() || m.at("extents").size() > TESSERA_MAX_RANK)
    Members::fail("extents", m.at("extents"), "a list of 1 to 3 whole numbers");
  const std::size_t rank = m.at("extents").size();
  Taps taps{int(rank)};
  const json& list = m.at("taps");
  if (!list.is_array() || list.empty() || list.size() > kMostTaps) Members::fail("taps", list, "a list of taps");
  for (const json& given : list) {
    const json& numbers = Members::list(given, "taps", rank + 1);
    Tap tap{};
    for (std::size_t axis = 0; axis < rank; ++axis) tap.offset[axis] = Members::whole(numbers[axis], "taps");
    taps.add(tap.offset, Members::number(numbers[rank], "taps"));
  }
  return {.extents = m.wholes("extents", rank),
          .taps = std::move(taps),
          .boundary = parse_sides(m, rank),
          .steps = m.whole("steps"),
          .dtype = m.dtype("dtype"),
          .in_strides = m.wholes("in_strides", rank),
          .out_strides = m.wholes("out_strides", rank),
          .sums = m.has("sums") ? m.named("sums", kSums) : Sums::any};
}

}  // namespace

std::optional<std::string> logged_problem(const std::string& line) {
  constexpr const char* kMark = "problem {\"op\": ";
  const std::size_t at = line.find(kMark);
  if (at == std::string::npos) return {};
  return line.substr(line.find('{', at));
}

TunedProblem parse_problem(const std::string& text) {
  // What is nested more deeply is no problem, and would take a call for each level to print.
  const auto is_flat = [](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) throw std::invalid_argument("the problem has lists of lists of lists of lists");
    return true;
  };
  const json parsed = json::parse(text, is_flat, false);
  if (parsed.is_discarded()) throw std::invalid_argument("the line is cut or no JSON: " + npy::clip(text));
  const Members m(parsed);
  TunedProblem problem;
  const std::string op = m.text("op");
  if (op != "gemm" && op != "stencil") Members::fail("op", m.at("op"), "gemm or stencil");
  if (op == "gemm")
    problem.desc = parse_gemm(m);
  else
    problem.desc = parse_stencil(m);
  problem.options.operands = m.named("operands", kMemories);
  if (m.has("workspace_limit")) problem.options.workspace_limit = std::uint64_t(m.whole("workspace_limit"));
  if (m.has("sm_limit")) problem.options.sm_limit = int(std::min<std::int64_t>(m.whole("sm_limit"), INT32_MAX));
  if (m.has("algorithm")) problem.options.algorithm = m.text("algorithm");
  if (m.has("backend")) problem.backend = m.text("backend");
  if (m.has("threads")) problem.threads = int(std::min<std::int64_t>(m.whole("threads"), INT32_MAX));
  return problem;
}

}  // namespace tessera::cli
