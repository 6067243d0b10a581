// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "cases.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <stdexcept>

namespace tessera::perf {

const char* const kGemmGrammar =
    "  --gemm SIZE[:TRANSPOSES][:TYPE][:ld+N][:beta1][:bias][:ACTIVATION][:ordered]\n"
    "              [:prepared][:lower|mirrored]\n"
    "    SIZE         N, MxNxK or MxNxKxBATCH; or SIZE:batchN\n"
    "    TRANSPOSES   of A and B: NN (default), NT, TN, TT\n"
    "    TYPE         f32 (default), f64, f16, bf16, 'f16->f32', 'bf16->f32'; f32 by bf16x6, f16x3, tf32; of two "
    "types\n"
    "                 f32*f16, f32*bf16, f64*f32 or the other way round, f32*bf16+bf16x6;\n"
    "                 complex: c64, c128, c64+bf16x6, c64+f16x3\n"
    "    ld+N         N elements between the rows of each matrix\n"
    "    beta1        adds to what D holds\n"
    "    bias         for each column; ACTIVATION, which brings it: relu, gelu, gelu_tanh, silu, sigmoid, tanh\n"
    "    ordered      ordered sums\n"
    "    prepared     also with a B that was prepared before\n"
    "    lower        a triangle of A by its transpose, NT or TN; mirrored: and its copy on the other side\n"
    "    Example:     --gemm 512x32000x4096:TN:bf16:gelu_tanh\n";

const char* const kStencilGrammar =
    "  --stencil RANKd_PATTERN_rRADIUS:EXTENTS[:BOUNDARY][:TYPE][:steps=N]\n"
    "    RANK         1, 2, 3; PATTERN: star, box, product, derivative (1d); RADIUS: 1 to 64\n"
    "    EXTENTS      AxBxC, the last one contiguous, or N for all axes\n"
    "    BOUNDARY     fixed (default), constant (0), periodic, nearest, reflect, mirror\n"
    "    TYPE         f32 (default), f64, f16, bf16\n"
    "    Example:     --stencil 3d_star_r4:512x512x4096:nearest:f64:steps=20\n";

namespace {

constexpr std::int64_t kMaxSize = 0x7fffffff;  // that BLAS libraries take
constexpr std::int64_t kMaxExtent = std::int64_t(1) << 40;
constexpr std::int64_t kMaxSteps = 1000000000;
constexpr std::int64_t kMaxRadius = 64;
constexpr double kMaxBytes = 0x1p62;  // of an operand, so that no count of bytes overflows

using Fields = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& piece, const std::string& why) {
  throw std::invalid_argument("'" + piece + "': " + why);
}

/// The length of the longest name that the text has there: "gelu_tanh" and "gray_scott" have a separator in them.
std::size_t name_at(const std::string& text, std::size_t begin) {
  std::size_t longest = 0;
  const auto look_for = [&](const std::string& name) {
    if (text.compare(begin, name.size(), name) == 0) longest = std::max(longest, name.size());
  };
  std::for_each(std::begin(kActivations), std::end(kActivations), look_for);
  std::for_each(std::begin(kModels), std::end(kModels), look_for);
  return longest;
}

/// Fields end at a ':' or, in the names of rows, at a '_' or a '/'.
Fields fields_of(const std::string& text) {
  Fields fields;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(":_/", begin + name_at(text, begin)), text.size());
    fields.push_back(text.substr(begin, end - begin));
    if (fields.back().empty()) refuse(text, "an empty field");
    begin = end + 1;
  }
  return fields;
}

/// What stands between the letters x.
Fields factors_of(const std::string& field) {
  Fields factors;
  for (std::size_t begin = 0; begin <= field.size();) {
    const std::size_t end = std::min(field.find('x', begin), field.size());
    factors.push_back(field.substr(begin, end - begin));
    begin = end + 1;
  }
  return factors;
}

std::int64_t number(const std::string& field, const std::string& digits, const std::string& what, std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || rest != end || value < 1 || value > most)
    refuse(field, what + " must be a whole number from 1 to " + std::to_string(most) +
                      (digits == field ? "" : ", not '" + digits + "'"));
  return value;
}

/// The number behind a word: that of "ld+7", "steps=20", "steps20". None where the field begins otherwise.
std::optional<std::int64_t> number_behind(const std::string& word, const std::string& field, std::int64_t most) {
  if (!field.starts_with(word)) return {};
  const std::size_t begin = word.size() + (field.substr(word.size(), 1) == "=" ? 1 : 0);
  return number(field, field.substr(begin), "what follows " + word, most);
}

/// Says a part of the case, once.
template <class T>
void say(std::optional<T>& part, const T& value, const std::string& field, const char* what) {
  if (part) refuse(field, std::string("a second ") + what);
  part = value;
}

void check_bytes(const std::string& operand, double numbers, DType dtype) {
  const double bytes = numbers * double(size_of(dtype));
  if (bytes <= kMaxBytes) return;
  char text[160];
  std::snprintf(text, sizeof text, "%.3g bytes, and an operand may have %.3g (2^62)", bytes, kMaxBytes);
  refuse(operand, text);
}

// ---- Products

struct Product {
  std::vector<std::int64_t> sizes;  // m, n, k
  std::optional<std::int64_t> batch, padding;
  std::optional<std::string> transposes;
  std::optional<Kind> kind;
  std::optional<bool> beta, bias, ordered, prepared;
  std::optional<tessera_triangle> triangle;
  std::optional<tessera_activation> activation;
};

void read_sizes(Product& p, const std::string& field) {
  const char* const names[] = {"m", "n", "k", "the batch"};
  const Fields factors = factors_of(field);
  if (factors.size() == 2 || factors.size() > 4) refuse(field, "no size: N, MxNxK or MxNxKxBATCH");
  for (std::size_t i = 0; i < factors.size(); ++i)
    p.sizes.push_back(number(field, factors[i], factors.size() == 1 ? "a size" : names[i], kMaxSize));
  if (p.sizes.size() == 1) p.sizes.assign(3, p.sizes.front());
  if (p.sizes.size() == 4) p.batch = p.sizes.back(), p.sizes.pop_back();
}

void read_option(Product& p, const std::string& field) {
  const auto activation = activation_named(field);
  if (field == "NN" || field == "NT" || field == "TN" || field == "TT")
    say(p.transposes, field, field, "pair of transposes");
  else if (const auto kind = kind_named(field))
    say(p.kind, *kind, field, "type");
  else if (const auto batch = number_behind("batch", field, kMaxSize))
    say(p.batch, *batch, field, "batch");
  else if (const auto padding = number_behind("ld+", field, kMaxSize))
    say(p.padding, *padding, field, "distance of rows");
  else if (field == "beta1")
    say(p.beta, true, field, "beta");
  else if (field == "ordered")
    say(p.ordered, true, field, "order");
  else if (field == "prepared")
    say(p.prepared, true, field, "preparation");
  else if (field == "lower" || field == "mirrored")
    say(p.triangle, tessera_triangle(field == "lower" ? TESSERA_TRIANGLE_LOWER : TESSERA_TRIANGLE_MIRRORED), field,
        "triangle");
  else if (field == "bias")
    say(p.bias, true, field, "bias");
  else if (activation && *activation != TESSERA_ACTIVATION_NONE)
    say(p.activation, *activation, field, "activation");
  else
    refuse(field, "no option of a product");
}

GemmShape shape_of(const Product& p) {
  const auto [m, n, k] = std::array{p.sizes[0], p.sizes[1], p.sizes[2]};
  const std::string transposes = p.transposes.value_or("NN");
  const std::int64_t padding = p.padding.value_or(0), batch = p.batch.value_or(1);
  if (std::max({m, n, k}) + padding > kMaxSize)
    refuse("ld+" + std::to_string(padding), "rows must be at most " + std::to_string(kMaxSize) + " elements apart");
  const Kind kind = p.kind.value_or(Kind());
  const auto numbers = [&](std::int64_t rows, std::int64_t columns) {
    return double(rows) * double(columns + padding) * double(batch) * double(kind.parts());
  };
  const bool trans_a = transposes[0] == 'T', trans_b = transposes[1] == 'T';
  if (kind.is_complex && (p.triangle || p.prepared || p.bias || p.activation))
    refuse(kind.name(), "complex products have no triangle, no prepared B and nothing beside them");
  check_bytes("A", trans_a ? numbers(k, m) : numbers(m, k), kind.dtype);
  check_bytes("B", trans_b ? numbers(n, k) : numbers(k, n), kind.dtype_b);
  check_bytes("D", numbers(m, n), kind.dtype_out);
  GemmShape g = padded_shape(m, n, k, trans_a, trans_b, padding);
  g.batch = batch;
  if (p.beta) g.beta = 1.0f;
  g.ordered = p.ordered.value_or(false), g.prepared = p.prepared.value_or(false);
  if (p.triangle) {
    if (trans_a == trans_b || m != n || kind.is_mixed() || p.prepared || p.bias || p.activation)
      refuse("lower, mirrored", "they are of NT or TN, of a square D and of one type, and of nothing beside it");
    g.triangle = *p.triangle;
  }
  if (p.bias || p.activation) add_epilogue(g, p.activation.value_or(TESSERA_ACTIVATION_NONE));
  return g;
}

// ---- Stencils

struct Stencil {
  std::optional<Boundary> boundary;
  std::optional<Kind> kind;
  std::optional<std::int64_t> steps;
};

void read_pattern(StencilShape& s, const Fields& fields) {
  const std::string& rank = fields[0];
  if (rank != "1d" && rank != "2d" && rank != "3d") refuse(rank, "no rank: 1d, 2d, 3d");
  s.rank = rank[0] - '0';
  const auto pattern = pattern_named(fields[1]);
  if (!pattern) refuse(fields[1], "no pattern: star, box, derivative, product");
  if (*pattern == Pattern::derivative && s.rank > 1) refuse(fields[1], "a pattern of 1d alone");
  s.pattern = *pattern;
  if (fields[2][0] != 'r') refuse(fields[2], "no radius: r1 to r" + std::to_string(kMaxRadius));
  s.radius = int(number(fields[2], fields[2].substr(1), "a radius", kMaxRadius));
}

/// "2^28" on a line, "512^3".
std::vector<std::int64_t> power(const std::string& field, std::size_t hat, int rank) {
  const std::int64_t base = number(field, field.substr(0, hat), "an extent", kMaxExtent);
  const std::int64_t exponent = number(field, field.substr(hat + 1), "what follows ^", 40);
  if (rank > 1 && exponent != rank) refuse(field, std::to_string(rank) + "d has N^" + std::to_string(rank));
  if (rank > 1) return std::vector(std::size_t(rank), base);
  const double value = std::pow(double(base), double(exponent));
  if (value > double(kMaxExtent)) refuse(field, "an extent is at most " + std::to_string(kMaxExtent));
  return {std::int64_t(value)};
}

template <class Shape>
void read_extents(Shape& s, const std::string& field) {
  std::vector<std::int64_t> extents;
  if (const std::size_t hat = field.find('^'); hat != std::string::npos)
    extents = power(field, hat, s.rank);
  else
    for (const std::string& factor : factors_of(field))
      extents.push_back(number(field, factor, "an extent", kMaxExtent));
  if (extents.size() == 1) extents.assign(std::size_t(s.rank), extents.front());
  if (extents.size() != std::size_t(s.rank))
    refuse(field, std::to_string(extents.size()) + " extents, and " + std::to_string(s.rank) + "d has one or " +
                      std::to_string(s.rank));
  std::copy(extents.begin(), extents.end(), s.extents.end() - s.rank);
}

void read_option(Stencil& s, const std::string& field) {
  const auto kind = kind_named(field);
  const auto boundary = boundary_named(field);
  if (boundary == Boundary::halo) refuse(field, "the suite's fields have no ghost points");
  if (kind && (kind->is_mixed() || kind->dtype_out != kind->dtype || kind->compute != TESSERA_COMPUTE_STRICT))
    refuse(field, "a type of products alone");
  if (boundary)
    say(s.boundary, *boundary, field, "boundary");
  else if (kind)
    say(s.kind, *kind, field, "type");
  else if (const auto steps = number_behind("steps", field, kMaxSteps))
    say(s.steps, *steps, field, "number of steps");
  else
    refuse(field, "no option of a stencil");
}

template <class Shape>
Case case_of(Op op, Shape Problem::*place, const Shape& shape, const Kind& kind) {
  Case c;
  c.problem.op = op;
  c.problem.name = name_of(shape);
  c.problem.*place = shape;
  c.quick = true;
  c.kinds = {kind};
  return c;
}

}  // namespace

Case gemm_case(const std::string& text) {
  Fields fields = fields_of(text);
  if (fields.size() > 1 && std::find(std::begin(kGroups), std::end(kGroups), fields[0]) != std::end(kGroups))
    fields.erase(fields.begin());
  Product product;
  read_sizes(product, fields[0]);
  for (std::size_t i = 1; i < fields.size(); ++i) read_option(product, fields[i]);
  return case_of(Op::gemm, &Problem::gemm, shape_of(product), product.kind.value_or(Kind()));
}

Case stencil_case(const std::string& text) {
  const Fields fields = fields_of(text);
  if (fields.size() < 4) refuse(text, "a stencil has a rank, a pattern, a radius and extents");
  StencilShape s;
  read_pattern(s, fields);
  read_extents(s, fields[3]);
  Stencil options;
  for (std::size_t i = 4; i < fields.size(); ++i) read_option(options, fields[i]);
  const Kind kind = options.kind.value_or(Kind());
  check_bytes("the field", double(s.extents[0]) * double(s.extents[1]) * double(s.extents[2]), kind.dtype);
  s.boundary = options.boundary.value_or(Boundary::fixed);
  s.steps = options.steps.value_or(1);
  return case_of(Op::stencil, &Problem::stencil, s, kind);
}

Case system_case(const std::string& text) {
  const Fields fields = fields_of(text);
  const auto model = model_named(fields[0]);
  if (!model) refuse(fields[0], "no model of a system");
  SystemShape s;
  s.model = *model;
  s.rank = s.model == Model::gray_scott || s.model == Model::burgers ? 2 : 3;
  Kind kind;
  for (const std::string& field : std::span(fields).subspan(1)) {
    if (field == "c2")
      s.varying = true;
    else if (field == "sponge")
      s.sponge = true;
    else if (const auto order = number_behind("o", field, 8))
      s.order = int(*order);
    else if (const auto steps = number_behind("steps", field, kMaxSteps))
      s.steps = *steps;
    else if (const auto named = kind_named(field))
      kind = *named;
    else
      read_extents(s, field);
  }
  return case_of(Op::system, &Problem::system, s, kind);
}

std::vector<Case> listed(std::span<const Listed> lines, Case (*read)(const std::string&)) {
  std::vector<Case> cases;
  for (const Listed& line : lines) {
    std::istringstream names(line.names);
    for (std::string name; names >> name;) {
      const bool quick = name.back() == '*';
      Case& c = cases.emplace_back(read(quick ? name.substr(0, name.size() - 1) : name));
      c.size = line.size, c.quick = quick, c.kinds = kinds_named(line.kinds);
    }
  }
  return cases;
}

}  // namespace tessera::perf
