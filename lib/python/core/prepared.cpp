// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "prepared.hpp"

#include "arguments.hpp"
#include "hints.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include "values.hpp"

#include <algorithm>

namespace tessera::python {
namespace {

Prepared prepare(Any b, std::int64_t rows, TypeName dtype_a, Text compute, Text sums, Text backend, Text algorithm,
                 Stream stream) {
  Array array = array_of(b, "b", stream);
  if (array.rank != 2)
    throw nb::value_error(("b has shape " + text_of(array.extents()) + "; must be a matrix").c_str());
  const DType of_a = dtype_a.is_none() ? array.dtype : dtype_named(dtype_a, "dtype_a");
  require_factors(of_a, "dtype_a", array.dtype, "b");
  const std::int64_t k = array.shape[0], n = array.shape[1];
  std::optional<Matrix> matrix = matrix_of(k, n, array.strides[0], array.strides[1]);
  if (!matrix) {
    array = contiguous(array, "b");
    matrix = matrix_of(k, n, array.strides[0], array.strides[1]);
  }
  const Prepared::Form form{
      k, n, array.dtype, of_a, matrix->order == Order::column_major, compute_named(compute), sums_named(sums)};
  if (rows < 0) throw nb::value_error(("rows = " + std::to_string(rows) + ": must be at least 0").c_str());
  constexpr std::int64_t kMany = std::int64_t{1} << 20;  // more are read alike, and may be more than memory has
  tessera_gemm_desc desc = tessera_packed_gemm(tessera_dtype(of_a), std::min(rows, kMany), n, k);
  desc.dtype_b = tessera_dtype(array.dtype);
  desc.trans_b = form.transposed ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  desc.ldb = matrix->leading;
  desc.compute = tessera_compute(form.compute), desc.sums = tessera_sums(form.sums);
  const Place place = place_of(array, backend, stream);
  PlanOptions options;
  options.operands = place.memory;
  if (!algorithm.is_none()) options.algorithm = text_argument(algorithm, "algorithm");
  tessera_prepared* made = nullptr;
  unlocked([&] {
    const tessera_plan_options c = tessera::detail::c_options(options);
    tessera::detail::call(tessera_prepare, place.get(), &desc, &c, array.data, UINT64_MAX, &made);
  });
  return {PreparedOperand(made), form};
}

constexpr const char* kPrepare = R"(b of products a @ b, laid out once for those of any number of rows of a.

b: a matrix, as matmul takes it; it may be changed or go then. The result stands for it as matmul's b, and as the plan's
where a GemmPlan is made with it.
rows: of a, for which the form is chosen: packed for the kernels of a processor, as the parts of float32 that tensor
cores multiply, or as rows at aligned places.
dtype_a: of a; None: as b. compute, sums: as for matmul, which takes those of its prepared b where it is told none.
backend, algorithm, stream: as for matmul.)";

}  // namespace

const PreparedOperand& Prepared::operand() const {
  if (!operand_) throw nb::value_error("b: this prepared matrix was freed; must be prepared again");
  return *operand_;
}

Array Prepared::array(const Array& a) const {
  Array array;
  array.dtype = form_.dtype, array.rank = 2, array.device = a.device;
  array.shape[0] = form_.k, array.shape[1] = form_.n;
  array.pack();
  return array;
}

const Prepared* prepared_of(nb::handle b) { return nb::isinstance<Prepared>(b) ? nb::inst_ptr<Prepared>(b) : nullptr; }

void define_prepared(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Prepared>(module, "PreparedMatrix", "The right factor of products, laid out once: see prepare.")
      .def_prop_ro(
          "shape", [](const Prepared& self) { return nb::make_tuple(self.form().k, self.form().n); }, "(k, n).")
      .def_prop_ro(
          "dtype", [](const Prepared& self) { return dtype_name(self.form().dtype); }, "Of its elements, by name.")
      .def_prop_ro(
          "backend", [](const Prepared& self) { return self.operand().backend(); },
          "Name of the backend that reads it.")
      .def_prop_ro(
          "device", [](const Prepared& self) { return self.operand().device(); },
          "Number of the device in that backend.")
      .def_prop_ro(
          "form", [](const Prepared& self) { return self.operand().form(); },
          "'matrix', or the algorithm that reads it, with parameters.")
      .def_prop_ro(
          "nbytes", [](const Prepared& self) { return self.operand().bytes(); }, "Of the backend's memory.")
      .def("free", &Prepared::free, "Frees the memory, once the last plan of it is gone. Nothing takes it any more.")
      .def("__str__", [](const Prepared& self) { return self.operand().describe(); })
      .def("__repr__", [](const Prepared& self) { return "<" + self.operand().describe() + ">"; });
  module.def("prepare", prepare, "b"_a, nb::kw_only(), "rows"_a = 1024, "dtype_a"_a = nb::none(),
             "compute"_a = nb::none(), "sums"_a = nb::none(), "backend"_a = nb::none(), "algorithm"_a = nb::none(),
             "stream"_a = nb::none(), kPrepare);
}

}  // namespace tessera::python
