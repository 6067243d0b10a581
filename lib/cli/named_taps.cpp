// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "clip.hpp"
#include "numbers.hpp"
#include "taps_spec.hpp"

#include <cmath>
#include <stdexcept>

namespace tessera::cli {
namespace {

using Parameters = std::vector<double>;

constexpr double kMaxWhole = 1e6;  // far above any order or radius that taps accept

/// The parameters of a form, and how many of them must be given: those in brackets need not.
struct Signature {
  std::vector<std::string> names;
  std::size_t required = 0;

  explicit Signature(std::string_view form) {
    names = split(form, ':');
    names.erase(names.begin());
    for (std::string& name : names) {
      required += name.back() != ']';  // "SIGMA[", "radius]"
      std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
    }
  }
};

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

NamedTaps::NamedTaps(const std::string& text, std::optional<double> spacing)
    : family_(nullptr), spacing_(spacing.value_or(1.0)) {
  const std::vector<std::string> parts = split(text, ':');
  const std::string whole = "taps '" + npy::clip(text) + "'";
  for (const Family& family : kFamilies)
    if (split(family.form, ':').front() == parts.front()) family_ = &family;
  if (family_ == nullptr) throw std::invalid_argument(whole + " are unknown; there are\n" + help());
  const Signature signature(family_->form);
  const std::size_t given = parts.size() - 1;
  if (given < signature.required || given > signature.names.size())
    throw std::invalid_argument(whole + ": expected " + family_->form);
  for (std::size_t i = 0; i < given; ++i) {
    const std::string& name = signature.names[i];
    const double value = parse_number(parts[i + 1], whole);
    const bool is_whole = name[0] >= 'a';
    if (is_whole && (value != std::floor(value) || std::abs(value) > kMaxWhole))
      throw std::invalid_argument(whole + ": " + name + " must be a whole number");
    parameters_.push_back(value);
  }
  if (spacing && !family_->takes_spacing) throw std::invalid_argument("--spacing has no meaning for " + whole);
}

Taps NamedTaps::make(int rank) const { return family_->make(rank, parameters_, spacing_); }

std::string NamedTaps::stability() {
  return "heat is stable for FACTOR up to C spacing^2 / axes, C = 0.5, 0.375, 0.33, 0.307 for accuracy 2, 4, 6, 8.";
}

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
