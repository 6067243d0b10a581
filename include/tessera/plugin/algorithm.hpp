// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// An algorithm of a backend, and the list in which it registers itself.
#pragma once

#include <tessera/plugin/offers.hpp>
#include <tessera/plugin/plan.hpp>
#include <tessera/plugin/problem.hpp>
#include <tessera/plugin/system_problem.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tessera::plugin {

/// What of the newer vocabulary an algorithm can do; what it cannot is refused before it is asked. And whether it is
/// still a draft.
struct Features {
  bool narrow = false;    ///< elements of 16 bits, results of 16 or 32
  bool epilogue = false;  ///< bias and activation
  bool aux = false;       ///< what the activation is applied to, stored or read
  /// Keeps ordered sums: see tessera_sums. Adds a stencil's taps in the one order of the backend, each by a fused
  /// multiply-add; the products of a GEMM in an order that follows from k, the types, `compute`, transposes and
  /// GemmProblem::fixed_extent() alone. All algorithms of a backend that say so must give the same bits.
  bool ordered = false;
  bool boxes = false;  ///< makes a box of a system's domain; why_unsupported may want more of it
  /// Runs where its name is forced, and nowhere else: neither the model of time nor a measured plan takes it. For an
  /// algorithm whose times are not known yet.
  bool forced_only = false;
  bool limited = false;   ///< keeps a problem's limit of multiprocessors
  bool mixed = false;     ///< takes A and B of two types; else it gets a widened copy of one of them: see OperandCopy
  bool triangle = false;  ///< computes a triangle of D, or one and its mirror image
  bool complex = false;   ///< multiplies complex elements
};

/// Why an algorithm with these features cannot keep the limit of a problem; "" where that is not the reason.
template <class Problem>
std::string missing_limit(const Problem& p, const Features& features) {
  if (p.multiprocessors == 0 || features.limited) return {};
  return "cannot keep to sm_limit = " + std::to_string(p.multiprocessors) + " multiprocessors";
}

/// Why an algorithm with these features cannot solve a product; "" where that is not the reason.
inline std::string missing_feature(const GemmProblem& p, const Features& features) {
  if (!features.complex && p.complex) return "multiplies real numbers";
  if (!features.narrow && size_of(p.dtype) == 2) return std::string("takes f32 and f64, not ") + name_of(p.dtype);
  if (!features.epilogue && p.has_epilogue()) return "takes no bias and no activation";
  if (!features.aux && p.aux != TESSERA_AUX_NONE) return "takes no aux";
  if (!features.ordered && p.ordered) return "adds the products in an order of its own";
  if (!features.triangle && p.triangle != TESSERA_TRIANGLE_NONE) return "computes all of D, no triangle";
  return {};
}
/// The same for a stencil.
inline std::string missing_feature(const StencilProblem& p, const Features& features) {
  if (!features.narrow && size_of(p.dtype) == 2) return std::string("takes f32 and f64, not ") + name_of(p.dtype);
  if (!features.ordered && p.ordered) return "adds the taps in an order of its own";
  return {};
}
/// The same for a system, whose fields may be narrower than what it is computed in.
inline std::string missing_feature(const SystemProblem& p, const Features& features) {
  for (const SystemProblem::Field& field : p.fields)
    if (!features.narrow && size_of(field.dtype) == 2)
      return std::string("takes fields of f32 and f64, not ") + name_of(field.dtype);
  if (!features.boxes && !p.makes_all()) return "makes the whole domain, not a box of it";
  return {};
}

/// How an algorithm reads an operand of a product that was prepared for it, in a form of its own: GemmProblem::form
/// with the algorithm's name. For any size of the side of D that the operand does not have.
template <class Context>
struct Preparation {
  using Machine = typename Context::Machine;

  bool matrix;  ///< whether it needs the operand as a matrix, too, which other algorithms can read then
  /// The forms of operand 0 (A) or 1 (B) that are worth a try. The problem has none yet.
  std::vector<Parameters> (*forms)(const GemmProblem&, const Machine&, int operand);
  /// Of the form, beside the matrix. As write(), of a problem with the form.
  std::uint64_t (*bytes)(const GemmProblem&, const Machine&);
  /// Queues its making, or does it on the host, from the operand as the problem describes it. It may not depend on the
  /// other side of D.
  void (*write)(Context&, const GemmProblem&, const void* operand, void* form);
};

/// A way to solve a Problem (GemmProblem, StencilProblem or SystemProblem). Context::Machine is a value that tells what
/// the machine can do: its sizes and rates, and the coefficients of the models of time, which perf/fit varies to fit
/// them to measurements. Nothing here reads global state.
template <class Context, class Problem>
struct Algorithm {
  using Machine = typename Context::Machine;

  const char* name;
  /// "" where it can solve the problem on that machine, else the reason why not.
  std::string (*why_unsupported)(const Problem&, const Machine&);
  /// Adds every set of parameters that is worth a try, within the caller's and the limit of a GEMM plan's workspace.
  /// Asks `given` for each parameter that there is. At least one where the problem is supported and nothing is given.
  /// The cheapest is enough where OfferList::only_cheapest().
  void (*offers)(const Problem&, const Machine&, const GivenParameters& given, std::uint64_t workspace_limit,
                 OfferList&);
  /// Lays out the plan of an offer.
  std::unique_ptr<Plan> (*make)(Context&, const Problem&, const Parameters&);
  Features features = {};
  const Preparation<Context>* preparation = nullptr;  ///< of a product; null: it has no form of its own

  /// "" where it can solve the problem, else the reason why not.
  std::string why_not(const Problem& problem, const Machine& machine) const {
    std::string missing = missing_feature(problem, features);
    if (missing.empty()) missing = missing_limit(problem, features);
    return missing.empty() ? why_unsupported(problem, machine) : missing;
  }
};

/// why_unsupported of an algorithm that solves everything.
template <class Problem, class Machine>
std::string supports_all(const Problem&, const Machine&) {
  return {};
}

/// Enters an algorithm into its backend's list. A constant of this type ends the algorithm's file:
///
///     const plugin::Register<Context, GemmProblem> kRegistered{{"naive", why_unsupported, offers, make}, 9};
///
/// The list is in the order of rank, then name, whichever file is initialised first. Among equal times the first wins.
template <class Context, class Problem>
class Register {
 public:
  using Entry = Algorithm<Context, Problem>;

  /// Takes its place in the list. Allocates nothing: it runs while the library is loaded, when nobody could hear of a
  /// failure.
  Register(const Entry& algorithm, int rank) : algorithm_(algorithm), rank_(rank) {
    const Register** place = &first;
    while (*place != nullptr && (*place)->precedes(*this)) place = &(*place)->next_;
    next_ = *place;
    *place = this;
  }
  Register(const Register&) = delete;
  Register& operator=(const Register&) = delete;

  /// Goes from an algorithm to the next of the list.
  class Iterator {
   public:
    explicit Iterator(const Register* at) : at_(at) {}
    const Entry& operator*() const { return at_->algorithm_; }
    Iterator& operator++() { return at_ = at_->next_, *this; }
    bool operator==(const Iterator&) const = default;

   private:
    const Register* at_;
  };
  /// The list as a range.
  struct List {
    Iterator begin() const { return Iterator(first); }
    Iterator end() const { return Iterator(nullptr); }
  };

  /// All, once the library is loaded.
  static List all() { return {}; }

 private:
  bool precedes(const Register& other) const {
    return std::tuple(rank_, std::string_view(algorithm_.name)) <
           std::tuple(other.rank_, std::string_view(other.algorithm_.name));
  }

  static inline const Register* first = nullptr;
  Entry algorithm_;
  int rank_;
  mutable const Register* next_ = nullptr;
};

}  // namespace tessera::plugin
