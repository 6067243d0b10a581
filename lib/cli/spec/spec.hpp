// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// What a command line, a file of taps and a program's log say. Functions that take a text throw std::invalid_argument;
/// `what` is what its message says the text is or is part of.
#pragma once

#include "stored.hpp"

#include <tessera/tessera.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::cli {

/// A value and how it is called.
template <class Value>
struct Named {
  const char* name;
  Value value;
};

inline constexpr Named<Compute> kComputes[] = {{"default", Compute::environment},
                                               {"strict", Compute::strict},
                                               {"bf16x6", Compute::bf16x6},
                                               {"f16x3", Compute::f16x3},
                                               {"tf32", Compute::tf32}};
inline constexpr Named<Activation> kActivations[] = {{"none", Activation::none}, {"relu", Activation::relu},
                                                     {"gelu", Activation::gelu}, {"gelu_tanh", Activation::gelu_tanh},
                                                     {"silu", Activation::silu}, {"sigmoid", Activation::sigmoid},
                                                     {"tanh", Activation::tanh}};
inline constexpr Named<Triangle> kTriangles[] = {
    {"none", Triangle::none}, {"lower", Triangle::lower}, {"upper", Triangle::upper}, {"mirrored", Triangle::mirrored}};
inline constexpr Named<Sums> kSums[] = {{"any", Sums::any}, {"ordered", Sums::ordered}};

/// The value of that name; none where there is no such name.
template <class Value, std::size_t kCount>
std::optional<Value> find(std::string_view name, const Named<Value> (&known)[kCount]) {
  for (const Named<Value>& one : known)
    if (name == one.name) return one.value;
  return std::nullopt;
}

/// The parts between separators, empty ones included.
std::vector<std::string> split(std::string_view text, char separator);

/// The whole of `text` as a finite decimal number.
double parse_number(const std::string& text, const std::string& what);

/// The whole of `text` as a decimal number from 0 to 2^63 - 1.
std::int64_t parse_count(const std::string& text, const std::string& what);

/// "f32, f64, f16, bf16".
std::string element_names();
DType parse_element_type(const std::string& text, const std::string& what);
/// Any type of numbers in a file.
npy::Stored parse_stored_type(const std::string& text, const std::string& what);

/// The finite number itself, which must be finite as an element, too.
double fitting(const std::string& what, double value, DType dtype);

/// "1" or "1,-1".
std::vector<std::int64_t> parse_origin(const std::string& text, const std::string& what);

/// "MODE" or "LOW/HIGH" for all axes or, separated by commas, for each; a mode is fixed, constant[:VALUE], periodic,
/// nearest, reflect or mirror. `value` is that of constant sides without one of their own, of which there must be one
/// then.
std::vector<BoundaryAxis> parse_boundaries(const std::string& text, std::optional<double> value);

/// "512x32000x4096", "1024", "64x64x64x100": sizes m, n, k and the batch, of which one number stands for all three
/// sizes; of a grid one to three extents.
std::vector<std::int64_t> parse_product_size(const std::string& text, const std::string& what);
std::vector<std::int64_t> parse_extents(const std::string& text, const std::string& what);

/// Taps by name, "heat:8:0.1"; the rank comes later, from the array.
class NamedTaps {
 public:
  NamedTaps(const std::string& text, std::optional<double> spacing);
  /// Throws tessera::Error where the parameters do not suit.
  Taps make(int rank) const;
  /// One line for each name.
  static std::string help();

 private:
  struct Family;
  static const Family kFamilies[];

  const Family* family_;
  std::vector<double> parameters_;
  double spacing_;
};

/// Reads [{"offset": [dy, dx], "coefficient": c}, ...]; throws std::runtime_error that names the file and the entry.
Taps read_taps(const std::filesystem::path& file, int rank);

/// Reads a dense kernel in a .npy file, an array of `rank` axes whose element at extent / 2 + origin on each axis is
/// the tap at the point itself, as in scipy.ndimage.correlate. Zeros are no taps. `origin`: a number for all axes, one
/// for each, or none, which is 0 where extents are odd and an error where one is even. Throws npy::Error.
Taps read_kernel(const std::filesystem::path& file, int rank, const std::vector<std::int64_t>& origin);

/// A problem to tune, as a command line says it or a program's log.
struct TunedProblem {
  std::variant<GemmDesc, StencilDesc> desc;
  std::string backend = {};  ///< "cuda:0"; "": among all that can run it
  int threads = 0;           ///< of its context; 0: not said
  PlanOptions options = {};
};

/// The JSON of a line that a program printed with TESSERA_VERBOSE=1, where it holds a problem; none else.
std::optional<std::string> logged_problem(const std::string& line);

/// Reads what logged_problem() found. Throws std::invalid_argument that names the member which is wrong.
TunedProblem parse_problem(const std::string& json);

}  // namespace tessera::cli
