// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "hints.hpp"
#include "matrices.hpp"
#include "overlap.hpp"
#include "plans.hpp"
#include "prepared.hpp"
#include "values.hpp"

namespace tessera::python {
namespace {

/// A product that is made once. Matrices are packed, in C order.
class ProductPlan : public KeptPlan {
 public:
  struct Form {
    std::int64_t m, n, k, batch;
    DType dtype, dtype_b, dtype_out;
    bool trans_a, trans_b;
    int bias = 0;           ///< tessera_bias
    bool prepared = false;  ///< b
    Triangle triangle = Triangle::none;
  };

  ProductPlan(Place place, const tessera_gemm_desc& desc, const Form& form, const PlanOptions& options)
      : KeptPlan(std::move(place), &desc, options), form_(form) {}

  Result multiply(Any a, Any b, Any out, Number alpha_given, Number beta_given, Any bias) {
    const double alpha = number(alpha_given, "alpha"), beta = number(beta_given, "beta");
    const Form& f = form_;
    Array left = matrix(array_of(a, "a"), "a", f.trans_a ? f.k : f.m, f.trans_a ? f.m : f.k, f.dtype);
    if (f.prepared && !b.is_none()) refuse_value("b", b, "None, as the plan was made with a prepared b");
    Array right;
    right.dtype = f.dtype_b;
    if (!f.prepared) right = matrix(array_of(b, "b"), "b", f.trans_b ? f.n : f.k, f.trans_b ? f.k : f.n, f.dtype_b);
    if (out.is_none() && beta != 0.0) refuse_beta(beta);
    if (out.is_none()) require_whole(f.triangle, "must be given");
    const Array result = out.is_none() ? empty_like(left, shape(f.m, f.n), f.dtype_out)
                                       : matrix(output_of(out, "out"), "out", f.m, f.n, f.dtype_out);
    keep_apart(result, left, "a", {});
    if (!f.prepared) keep_apart(result, right, "b", {});
    std::vector<tessera_operand> operands{operand_of(left, TESSERA_ROLE_A), operand_of(right, TESSERA_ROLE_B),
                                          operand_of(result, TESSERA_ROLE_C)};
    if (bias.is_none() && f.bias != TESSERA_BIAS_NONE)
      refuse_value("bias", bias, "an array, as the plan was made with one");
    if (!bias.is_none() && f.bias == TESSERA_BIAS_NONE)
      refuse_value("bias", bias, "None, as the plan was made without one");
    Array vector;
    if (!bias.is_none()) {
      vector = array_of(bias, "bias");
      require(vector, "bias", {f.bias == TESSERA_BIAS_PER_ROW ? f.m : f.n}, f.dtype_out);
      keep_apart(result, vector, "bias", {});
      operands.push_back(operand_of(vector, TESSERA_ROLE_BIAS));
    }
    const tessera_dtype type = scalar_dtype(f.dtype_out);
    execute(operands, {{type, 0, alpha, 0.0}, {type, 0, beta, 0.0}});
    return finished(result, left, place());
  }

 private:
  std::vector<std::int64_t> shape(std::int64_t rows, std::int64_t columns) const {
    if (form_.batch == 1) return {rows, columns};
    return {form_.batch, rows, columns};
  }

  Array matrix(Array array, const char* name, std::int64_t rows, std::int64_t columns, DType dtype) const {
    require(array, name, shape(rows, columns), dtype);
    return array;
  }

  Form form_;
};

int bias_named(nb::handle object) {
  if (object.is_none()) return TESSERA_BIAS_NONE;
  const std::string text = as_text(object).value_or("");
  if (text == "row") return TESSERA_BIAS_PER_ROW;
  if (text == "column") return TESSERA_BIAS_PER_COLUMN;
  refuse_value("bias", object, "'row', a value for each, 'column', or None");
}

void construct(ProductPlan* self, std::int64_t m, std::int64_t n, std::int64_t k, TypeName dtype, TypeName dtype_b,
               TypeName out_dtype, std::int64_t batch, bool trans_a, bool trans_b, Text bias, Text activation,
               Text compute, Text sums, Text triangle, Text backend, Text memory, Text algorithm, Text effort,
               Whole sm_limit, Stream stream, Any prepared) {
  const DType of_a = dtype_named(dtype, "dtype"), of_b = dtype_b.is_none() ? of_a : dtype_named(dtype_b, "dtype_b");
  require_factors(of_a, "dtype", of_b, "dtype_b");
  const DType of_out = result_type_named(out_dtype, "out_dtype", wider(of_a, of_b));
  ProductPlan::Form form{m, n, k, batch, of_a, of_b, of_out, trans_a, trans_b};
  form.bias = bias_named(bias), form.triangle = triangle_named(triangle);
  form.prepared = !prepared.is_none();
  tessera_gemm_desc desc = tessera_packed_gemm(tessera_dtype(form.dtype), m, n, k);
  desc.dtype_b = tessera_dtype(form.dtype_b);
  desc.dtype_d = desc.dtype_bias = tessera_dtype(form.dtype_out);
  if (form.bias == TESSERA_BIAS_NONE) desc.dtype_bias = 0;
  desc.batch = batch;
  desc.trans_a = trans_a ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  desc.trans_b = trans_b ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  desc.bias = form.bias;
  desc.activation = tessera_activation(activation_named(activation));
  desc.compute = tessera_compute(compute_named(compute));
  desc.sums = tessera_sums(sums_named(sums));
  desc.triangle = tessera_triangle(form.triangle);
  const Place place = place_named(backend, stream, memory_named(memory) == Memory::device);
  PlanOptions options = options_of(place.memory, algorithm, effort, sm_limit);
  if (form.prepared) {
    const Prepared* const right = prepared_of(prepared);
    if (right == nullptr) refuse_type("prepared", prepared, "what prepare() returns, or None");
    options.prepared = &right->operand();
    if (compute.is_none()) desc.compute = tessera_compute(right->form().compute);
    if (sums.is_none()) desc.sums = tessera_sums(right->form().sums);
  }
  new (self) ProductPlan(place, desc, form, options);
}

}  // namespace

void define_gemm_plan(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<ProductPlan> plan(
      module, "GemmPlan",
      "A product out = activation(alpha * op(a) @ op(b) + beta * out + bias) that is made once and "
      "executed many times, by one thread at a time. Matrices are in C order; op(x) is x or its "
      "transpose. Arrays of a batch have it as their first axis.");
  plan.def("__init__", construct, "m"_a, "n"_a, "k"_a, nb::kw_only(), "dtype"_a = "float32", "dtype_b"_a = nb::none(),
           "out_dtype"_a = nb::none(), "batch"_a = 1, "trans_a"_a = false, "trans_b"_a = false, "bias"_a = nb::none(),
           "activation"_a = nb::none(), "compute"_a = nb::none(), "sums"_a = nb::none(), "triangle"_a = nb::none(),
           "backend"_a = nb::none(), "memory"_a = "host", "algorithm"_a = nb::none(), "effort"_a = nb::none(),
           "sm_limit"_a = 0, "stream"_a = nb::none(), "prepared"_a = nb::none(),
           "dtype: of a; dtype_b: of b, None: as a. bias: 'row' (m values, one to each row), 'column' (n values) or "
           "None. memory: 'host' or 'device'. prepared: what prepare() made of b, which is None in execute then, with "
           "trans_b as it was laid out: False in C order, True in Fortran's. The rest "
           "as for matmul.");
  plan.def("execute", &ProductPlan::multiply, "a"_a, "b"_a.none(), nb::kw_only(), "out"_a = nb::none(), "alpha"_a = 1.0,
           "beta"_a = 0.0, "bias"_a = nb::none(),
           "Returns out, or a new array of a's kind. With memory='device' the work is queued on the plan's stream.");
  define_plan(plan);
}

Memory memory_named(nb::handle object) {
  const std::string text = as_text(object).value_or("");
  if (text == "host") return Memory::host;
  if (text == "device") return Memory::device;
  refuse_value("memory", object, "'host' or 'device'");
}

}  // namespace tessera::python
