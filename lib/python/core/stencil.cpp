// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "hints.hpp"
#include "overlap.hpp"
#include "plans.hpp"
#include "values.hpp"

#include <nanobind/operators.h>

#include <algorithm>
#include <optional>

namespace tessera::python {
namespace {

/// Of a domain of one to three axes. A copy where the library cannot go through the array as it is.
Array domain(Array array, const char* name, bool writes) {
  if (array.rank < 1 || array.rank > TESSERA_MAX_RANK)
    throw nb::value_error(
        (std::string(name) + " has " + std::to_string(array.rank) + " axes; must have 1, 2 or 3").c_str());
  if (writes) require_distinct(array, name);
  bool plain = true;
  for (int axis = 0; axis < array.rank; ++axis)
    plain &= array.shape[std::size_t(axis)] <= 1 || array.strides[std::size_t(axis)] > 0;
  if (!plain && writes)
    throw nb::value_error(
        (std::string(name) + " has strides of 0 or less; must have larger ones to be written").c_str());
  return plain ? array : contiguous(array, name);
}

/// Strides as the library takes them: of axes of one point any.
void set_strides(std::int64_t (&strides)[TESSERA_MAX_RANK], const Array& array) {
  std::int64_t packed = 1;
  for (int axis = array.rank - 1; axis >= 0; --axis) {
    const auto i = std::size_t(axis);
    strides[axis] = array.shape[i] > 1 ? array.strides[i] : packed;
    packed = std::max(packed, strides[axis] * std::max<std::int64_t>(array.shape[i], 1));
  }
}

/// `name`: what the extents are of.
tessera_stencil_desc described(const char* name, std::span<const std::int64_t> extents, DType dtype, const Taps& taps,
                               const Boundaries& boundary, std::int64_t steps) {
  const int rank = int(extents.size());
  if (taps.rank() != rank)
    throw nb::value_error(("taps have rank " + std::to_string(taps.rank()) + ", " + name + " has " +
                           std::to_string(rank) + (rank == 1 ? " axis" : " axes") + ": must be as many")
                              .c_str());
  tessera_stencil_desc desc =
      tessera_packed_stencil(tessera_dtype(dtype), rank, extents.data(),
                             reinterpret_cast<const tessera_tap*>(taps.data()), std::int64_t(taps.size()));
  for (int axis = 0; axis < rank; ++axis) {
    const BoundaryAxis& sides = boundary[std::size_t(axis)];
    desc.boundary[axis][0] = tessera_boundary(sides.low.mode),
    desc.boundary[axis][1] = tessera_boundary(sides.high.mode);
    desc.boundary_value[axis][0] = sides.low.value, desc.boundary_value[axis][1] = sides.high.value;
  }
  desc.steps = steps;
  return desc;
}

void require_same_shape(const Array& in, const Array& out) {
  if (!std::ranges::equal(in.extents(), out.extents()))
    throw nb::value_error(
        ("out has shape " + text_of(out.extents()) + "; must have the input's, " + text_of(in.extents())).c_str());
  if (in.dtype != out.dtype)
    throw nb::type_error(
        (std::string("out is of ") + dtype_name(out.dtype) + "; must be of the input's " + dtype_name(in.dtype))
            .c_str());
}

Result stencil(Any input, SomeTaps given, BoundaryEntries boundary, Whole step_count, Any output, Text backend,
               Text algorithm, Text effort, Whole sm_limit, Stream stream) {
  const Taps& taps = taps_of(given);
  const std::int64_t steps = whole(step_count, "steps");
  Array in = domain(array_of(input, "input", stream), "input", false);
  const Array out =
      output.is_none() ? empty_like(in, in.extents(), in.dtype) : domain(output_of(output, "out", stream), "out", true);
  require_same_memory(in, "input", out, "out");
  require_same_shape(in, out);
  if (!output.is_none()) keep_apart(out, in, "input", stream);
  tessera_stencil_desc desc = described("input", in.extents(), in.dtype, taps, boundaries_of(boundary, in.rank), steps);
  set_strides(desc.in_strides, in), set_strides(desc.out_strides, out);
  const Place place = place_of(in, backend, stream);
  BorrowedPlan plan(place, &desc, options_of(place.memory, algorithm, effort, sm_limit));
  const tessera_operand operands[] = {{in.data, tessera_dtype(in.dtype), TESSERA_ROLE_IN},
                                      {out.data, tessera_dtype(out.dtype), TESSERA_ROLE_OUT}};
  constexpr double kShort = 4096.0;  // below that the lock is not worth giving up
  if (double(in.size()) * double(taps.size()) * double(steps) < kShort)
    plan.execute(operands, 2);
  else
    unlocked([&] { plan.execute(operands, 2); });
  return finished(out, in, place);
}

/// A stencil that is made once. Arrays are in C order.
class SweepPlan : public KeptPlan {
 public:
  SweepPlan(Place place, const tessera_stencil_desc& desc, const PlanOptions& options)
      : KeptPlan(std::move(place), &desc, options),
        dtype_(DType(desc.dtype)),
        extents_(desc.extents, desc.extents + desc.rank) {}

  Result sweep(Any input, Any output) {
    Array in = checked(array_of(input, "input"), "input");
    const Array out =
        output.is_none() ? empty_like(in, in.extents(), in.dtype) : checked(output_of(output, "out"), "out");
    if (!output.is_none()) keep_apart(out, in, "input", {});
    execute({operand_of(in, TESSERA_ROLE_IN), operand_of(out, TESSERA_ROLE_OUT)}, {});
    return finished(out, in, place());
  }

 private:
  Array checked(Array array, const char* name) const {
    require(array, name, extents_, dtype_);
    return array;
  }

  DType dtype_;
  std::vector<std::int64_t> extents_;
};

void construct(SweepPlan* self, Wholes shape, SomeTaps taps, TypeName dtype, BoundaryEntries boundary, Whole steps,
               Text backend, Text memory, Text algorithm, Text effort, Whole sm_limit, Stream stream) {
  const std::vector<std::int64_t> extents = wholes(shape, "extents");
  if (extents.empty() || extents.size() > TESSERA_MAX_RANK)
    throw nb::value_error(("extents = " + text_of(extents) + ": must have 1, 2 or 3 axes").c_str());
  const tessera_stencil_desc desc = described("extents", extents, dtype_named(dtype, "dtype"), taps_of(taps),
                                              boundaries_of(boundary, int(extents.size())), whole(steps, "steps"));
  const Place place = place_named(backend, stream, memory_named(memory) == Memory::device);
  new (self) SweepPlan(place, desc, options_of(place.memory, algorithm, effort, sm_limit));
}

/// `where` is the beginning of a message.
void add(Taps& taps, nb::handle given, nb::handle coefficient, const std::string& where = "") {
  const std::vector<std::int64_t> offset = wholes(given, where + "offset");
  if (int(offset.size()) != taps.rank())
    throw nb::value_error((where + "offset = " + text_of(offset) + ": must have " + std::to_string(taps.rank()) +
                           " axes, as the taps have")
                              .c_str());
  std::array<std::int64_t, TESSERA_MAX_RANK> full{};
  std::copy(offset.begin(), offset.end(), full.begin());
  taps.add(full, number(coefficient, where + "coefficient"));
}

using Terms = Argument<"collections.abc.Iterable[tuple[collections.abc.Sequence[int], float]]">;

/// [((offset along each axis), coefficient), ...], as repr has it.
void construct_taps(Taps* self, Whole rank, Terms terms) {
  Taps made(small_whole(rank, "rank", ", 1, 2 or 3; tessera.taps.from_dense(weights) makes taps of an array"));
  std::size_t place = 0;
  for (const nb::object& term : entries_of(terms, "terms", "a list of pairs (offset, coefficient)")) {
    const std::string where = "terms[" + std::to_string(place++) + "]";
    if ((!PyTuple_Check(term.ptr()) && !PyList_Check(term.ptr())) || nb::len(term) != 2)
      refuse_type(where, term, "a pair (offset, coefficient), as ((0, 1), 0.5) is");
    add(made, nb::object(term[0]), nb::object(term[1]), where + ": ");
  }
  new (self) Taps(std::move(made));
}

/// [((offset along each axis), coefficient), ...]
nb::list items_of(const Taps& taps) {
  nb::list items;
  for (const Tap& tap : taps) {
    nb::list offset;
    for (int axis = 0; axis < taps.rank(); ++axis) offset.append(tap.offset[std::size_t(axis)]);
    items.append(nb::make_tuple(nb::tuple(offset), tap.coefficient));
  }
  return items;
}

Taps taps_from_dense(Any weights) {
  const std::string type = nb::hasattr(weights, "dtype") ? nb::str(nb::object(weights.attr("dtype"))).c_str() : "";
  if (!type.empty() && !type.ends_with("float64"))
    throw nb::type_error(
        ("weights: of " + type + "; must be float64, as numpy.asarray(weights, 'float64') is").c_str());
  const Array array = array_of(weights, "weights");
  if (array.on_device() || array.dtype != kDType<double>)
    throw nb::type_error("weights: must be float64, in the host's memory");
  if (array.rank < 1 || array.rank > TESSERA_MAX_RANK)
    throw nb::value_error(("weights has shape " + text_of(array.extents()) + "; must have 1, 2 or 3 axes").c_str());
  if (array.size() == 0)
    throw nb::value_error(("weights has shape " + text_of(array.extents()) + "; must have an element or more").c_str());
  const Array packed = contiguous(array, "weights");
  const auto* const values = static_cast<const double*>(packed.data);
  return taps::from_dense(std::span<const double>(values, std::size_t(packed.size())), packed.extents());
}

void define_named_taps(nb::module_ taps) {
  using namespace nb::literals;
  taps.def(
      "identity", [](Whole rank) { return taps::identity(small_whole(rank, "rank")); }, "rank"_a, "The field itself.");
  taps.def(
      "derivative",
      [](Whole rank, Whole axis, Whole order, Whole accuracy, Number spacing) {
        return taps::derivative(small_whole(rank, "rank"), small_whole(axis, "axis"), small_whole(order, "order"),
                                small_whole(accuracy, "accuracy"), number(spacing, "spacing"));
      },
      "rank"_a, "axis"_a, "order"_a, "accuracy"_a = 2, "spacing"_a = 1.0,
      "Central difference of the order-th derivative (1 to 8) along an axis, of accuracy 2, 4, 6 or 8.");
  taps.def(
      "laplacian",
      [](Whole rank, Whole accuracy, Number spacing) {
        return taps::laplacian(small_whole(rank, "rank"), small_whole(accuracy, "accuracy"),
                               number(spacing, "spacing"));
      },
      "rank"_a, "accuracy"_a = 2, "spacing"_a = 1.0,
      "Sum of the second derivatives along all axes, of accuracy 2, 4, 6 or 8.");
  taps.def(
      "box",
      [](Whole rank, Whole radius) { return taps::box(small_whole(rank, "rank"), small_whole(radius, "radius")); },
      "rank"_a, "radius"_a, "Mean over the (2 radius + 1)^rank points around a point.");
  taps.def(
      "gaussian",
      [](Whole rank, Number sigma, Whole radius) {
        return taps::gaussian(small_whole(rank, "rank"), number(sigma, "sigma"),
                              radius.is_none() ? std::nullopt : std::optional(small_whole(radius, "radius")));
      },
      "rank"_a, "sigma"_a, "radius"_a = nb::none(),
      "Blur by a Gaussian of standard deviation sigma, in points; radius: 4 sigma, rounded, unless it is given. "
      "Its taps are those of ndimage.gaussian_filter in one pass.");
  taps.def("from_dense", taps_from_dense, "weights"_a,
           "From an array of float64 whose centre (extent // 2 on each axis) is offset 0: correlation, not flipped.");
}

void define_taps(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Taps>(
      module, "Taps",
      "A stencil's offsets and coefficients: out[p] = sum of coefficient * in[p + offset]. Taps can be added, "
      "subtracted and scaled.")
      .def("__init__", construct_taps, "rank"_a, "terms"_a = nb::tuple(),
           "Of 1 to 3 axes, with pairs (offset, coefficient).")
      .def(
          "add", [](Taps& self, Wholes offset, Number coefficient) { add(self, offset, coefficient); }, "offset"_a,
          "coefficient"_a, "Adds a term; one of the same offset grows by the coefficient.")
      .def_prop_ro("rank", &Taps::rank)
      .def("__len__", &Taps::size)
      .def("__iter__", [](const Taps& self) { return nb::iter(items_of(self)); })
      .def("__repr__",
           [](const Taps& self) {
             return "Taps(" + std::to_string(self.rank()) + ", " + nb::repr(items_of(self)).c_str() + ")";
           })
      .def(nb::self + nb::self)
      .def(nb::self - nb::self)
      .def(double() * nb::self)
      .def(nb::self * double())
      .def("__neg__", [](const Taps& self) { return -1.0 * self; });
  define_named_taps(module.def_submodule("taps", "Named taps."));
}

constexpr const char* kStencil = R"(out[p] = sum over taps of coefficient * input[p + offset], applied `steps` times.

input: an array of one to three axes; see matmul for kinds and types.
boundary: what is read outside: 'fixed' (the point keeps its value), 'periodic', 'nearest', 'reflect', 'mirror',
'constant' or ('constant', value), for all axes; a sequence with an entry for each axis; an entry may be a pair
(low side, high side).
out: where the result goes; None: a new array of the input's kind. An input that shares memory with it is copied first.
backend, algorithm, effort, sm_limit, stream: as for matmul.)";

}  // namespace

void define_stencil(nb::module_& module) {
  using namespace nb::literals;
  define_taps(module);
  module.def("stencil", stencil, "input"_a.none(), "taps"_a, nb::kw_only(), "boundary"_a = "fixed", "steps"_a = 1,
             "out"_a = nb::none(), "backend"_a = nb::none(), "algorithm"_a = nb::none(), "effort"_a = nb::none(),
             "sm_limit"_a = 0, "stream"_a = nb::none(), kStencil);
  nb::class_<SweepPlan> plan(
      module, "StencilPlan",
      "A stencil that is made once and executed many times, by one thread at a time. Arrays are in C "
      "order.");
  plan.def("__init__", construct, "extents"_a, "taps"_a, nb::kw_only(), "dtype"_a = "float32", "boundary"_a = "fixed",
           "steps"_a = 1, "backend"_a = nb::none(), "memory"_a = "host", "algorithm"_a = nb::none(),
           "effort"_a = nb::none(), "sm_limit"_a = 0, "stream"_a = nb::none(),
           "memory: 'host' or 'device'. The rest as for stencil.");
  plan.def("execute", &SweepPlan::sweep, "input"_a, nb::kw_only(), "out"_a = nb::none(),
           "Returns out, or a new array. With memory='device' the work is queued on the plan's stream.");
  define_plan(plan);
}

}  // namespace tessera::python
