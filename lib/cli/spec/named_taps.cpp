// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "spec.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace tessera::cli {
namespace {

using Parameters = std::vector<double>;

constexpr double kMaxWhole = 1e6;  // far above any order or radius that taps accept

}  // namespace

/// One kind of taps. A form's parameter in capitals is a number, any other is a whole number. One in brackets may be
/// left out.
struct NamedTaps::Family {
  const char* form;
  const char* meaning;
  bool takes_spacing;
  Taps (*make)(int rank, const Parameters& p, double spacing);
};

const NamedTaps::Family NamedTaps::kFamilies[] = {
    {"identity", "the field itself", false, [](int rank, const Parameters&, double) { return taps::identity(rank); }},
    {"laplacian:accuracy", "accuracy order 2, 4, 6 or 8", true,
     [](int rank, const Parameters& p, double h) { return taps::laplacian(rank, int(p[0]), h); }},
    {"heat:accuracy:FACTOR", "identity + FACTOR laplacian; FACTOR is diffusivity times time step", true,
     [](int rank, const Parameters& p, double h) {
       return taps::identity(rank) + p[1] * taps::laplacian(rank, int(p[0]), h);
     }},
    {"derivative:axis:order:accuracy", "central difference along an axis (0 is the slowest)", true,
     [](int rank, const Parameters& p, double h) {
       return taps::derivative(rank, int(p[0]), int(p[1]), int(p[2]), h);
     }},
    {"box:radius", "mean over a cube", false,
     [](int rank, const Parameters& p, double) { return taps::box(rank, int(p[0])); }},
    {"gaussian:SIGMA[:radius]", "blur by a Gaussian, SIGMA in points; radius: 4 SIGMA, rounded", false,
     [](int rank, const Parameters& p, double) {
       return p.size() > 1 ? taps::gaussian(rank, p[0], int(p[1])) : taps::gaussian(rank, p[0]);
     }},
};

NamedTaps::NamedTaps(const std::string& text, std::optional<double> spacing) : spacing_(spacing.value_or(1.0)) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string whole = "taps '" + npy::clip(text) + "'";
  family_ = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                         [&](const Family& family) { return split(family.form, ':').front() == parts.front(); });
  if (family_ == std::end(kFamilies)) throw std::invalid_argument(whole + " are unknown; there are\n" + help());
  std::string form = family_->form;
  const auto optional = std::size_t(std::count(form.begin(), form.end(), '['));
  std::erase_if(form, [](char c) { return c == '[' || c == ']'; });
  const std::vector<std::string> names = split(form, ':');
  if (parts.size() + optional < names.size() || parts.size() > names.size())
    throw std::invalid_argument(whole + ": expected " + family_->form);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const double value = parse_number(parts[i], whole);
    const bool is_whole = names[i][0] >= 'a';
    if (is_whole && (value != std::floor(value) || std::abs(value) > kMaxWhole))
      throw std::invalid_argument(whole + ": " + names[i] + " must be a whole number");
    parameters_.push_back(value);
  }
  if (spacing && !family_->takes_spacing) throw std::invalid_argument("--spacing has no meaning for " + whole);
}

Taps NamedTaps::make(int rank) const { return family_->make(rank, parameters_, spacing_); }

std::string NamedTaps::help() {
  std::string lines;
  for (const Family& family : kFamilies) {
    std::string form = family.form;
    form.resize(32, ' ');
    lines += "  " + form + family.meaning + "\n";
  }
  return lines;
}

}  // namespace tessera::cli
