// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "hints.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include "overlap.hpp"
#include "prepared.hpp"
#include "values.hpp"

#include <algorithm>
#include <complex>

namespace tessera::python {
namespace {

/// What a call asks for beside its operands.
struct ProductOptions {
  nb::handle bias, aux, activation, compute, sums, triangle, dtype, backend, algorithm, effort, sm_limit, stream, alpha,
      beta;
  bool conjugate_a, conjugate_b;
};

/// One call of matmul.
class Product {
 public:
  Product(nb::handle a, nb::handle b, nb::handle out, const ProductOptions& options)
      : options_(options),
        prepared_(prepared_of(b)),
        a_(array_of(a, "a", options.stream, Numbers::complex)),
        b_(prepared_ != nullptr ? prepared_->array(a_) : array_of(b, "b", options.stream, Numbers::complex)),
        triangle_(triangle_named(options.triangle)),
        alpha_(number_for(a_.dtype, options.alpha, "alpha")),
        beta_(number_for(a_.dtype, options.beta, "beta")) {
    if (a_.rank == 0 || b_.rank == 0)
      throw nb::value_error(
          (std::string(a_.rank == 0 ? "a" : "b") + " is a single number; must have an axis or more").c_str());
    require_factors(a_.dtype, "a", b_.dtype, "b");
    require_same_memory(a_, "a", b_, "b");
    if (prepared_ != nullptr && a_.dtype != prepared_->form().dtype_a)
      throw nb::type_error((std::string("a is of ") + dtype_name(a_.dtype) + "; b was prepared for " +
                            dtype_name(prepared_->form().dtype_a))
                               .c_str());
    find_shapes();
    find_output(out);
    find_bias();
    find_aux();
    if (!out.is_none()) keep_operands_apart(out_, "out");
    if (aux_) keep_operands_apart(*aux_, "aux"), require_apart(*aux_, "aux", out_, "out");
  }

  nb::object run() {
    const Matrix a = matrix(a_, vector_a_ ? 1 : m_, k_, vector_a_, false, "a");
    const Matrix b = matrix(b_, k_, vector_b_ ? 1 : n_, false, vector_b_, "b");
    std::optional<Matrix> c = matrix_of_output(out_);
    if (prepared_ != nullptr && c && c->order == Order::column_major) c.reset();  // b is for products in C order
    if (aux_ && !out_.in_c_order()) c.reset();                                    // aux is
    if (!c) written_ = empty_like(a_, out_.extents(), out_.dtype), c = matrix_of_output(*written_);
    if (written_ && beta_ != 0.0)
      throw nb::value_error("out: with beta its rows or columns must be without gaps between their elements");
    if (written_) require_whole(triangle_, "has gaps between the elements of its rows and of its columns");
    describe(a, b, *c);
    const Place place = place_of(a_, options_.backend, options_.stream);
    execute(place);
    if (written_) out_.object.attr("__setitem__")(nb::ellipsis(), written_->object);
    return finished(out_, a_, place);
  }

 private:
  /// Copies what shares memory with an array that is written.
  void keep_operands_apart(Array& written, const char* name) {
    require_distinct(written, name);
    keep_apart(written, a_, "a", options_.stream);
    if (prepared_ == nullptr) keep_apart(written, b_, "b", options_.stream);
    if (bias_) keep_apart(written, *bias_, "bias", options_.stream);
  }

  void find_shapes() {
    vector_a_ = a_.rank == 1, vector_b_ = b_.rank == 1;
    const auto last = [](const Array& x, int from_end) { return x.shape[std::size_t(x.rank - from_end)]; };
    m_ = vector_a_ ? 1 : last(a_, 2), k_ = last(a_, 1);
    n_ = vector_b_ ? 1 : last(b_, 1);
    const std::int64_t k_of_b = vector_b_ ? last(b_, 1) : last(b_, 2);
    if (k_ != k_of_b)
      throw nb::value_error(("a of shape " + text_of(a_.extents()) + " and b of shape " + text_of(b_.extents()) +
                             ": a has " + std::to_string(k_) + " columns, b " + std::to_string(k_of_b) +
                             " rows; they must agree")
                                .c_str());
    batch_ = broadcast(a_, batch_axes(a_), b_, batch_axes(b_));
  }

  static int batch_axes(const Array& x) { return std::max(x.rank - 2, 0); }

  void find_output(nb::handle out) {
    std::vector<std::int64_t> shape = batch_;
    if (!vector_a_) shape.push_back(m_);
    if (!vector_b_) shape.push_back(n_);
    const DType dtype = result_type_named(options_.dtype, "dtype", wider(a_.dtype, b_.dtype));
    if (out.is_none()) {
      if (beta_ != 0.0) refuse_beta(beta_.real());
      require_whole(triangle_, "must be given");
      out_ = empty_like(a_, shape, dtype);
      return;
    }
    out_ = output_of(out, "out", options_.stream, Numbers::complex);
    require_same_memory(a_, "a", out_, "out");
    if (!std::ranges::equal(out_.extents(), shape))
      throw nb::value_error(
          ("out has shape " + text_of(out_.extents()) + "; must have that of a @ b, " + text_of(shape)).c_str());
    if (!options_.dtype.is_none() && out_.dtype != dtype)
      throw nb::type_error(
          (std::string("out is of ") + dtype_name(out_.dtype) + "; must be of dtype, " + dtype_name(dtype)).c_str());
  }

  void find_bias() {
    if (options_.bias.is_none()) return;
    Array bias = array_of(options_.bias, "bias", options_.stream);
    require_same_memory(a_, "a", bias, "bias");
    const DType result = out_.dtype, sums = DType(scalar_dtype(result));
    if (bias.dtype != result && bias.dtype != sums)
      throw nb::type_error((std::string("bias is of ") + dtype_name(bias.dtype) + "; must be of the result's type, " +
                            dtype_name(result) + (sums != result ? std::string(", or of ") + dtype_name(sums) : ""))
                               .c_str());
    const auto extents = bias.extents();
    const bool column = (bias.rank == 1 && extents[0] == n_) || (bias.rank == 2 && extents[0] == 1 && extents[1] == n_);
    const bool row = bias.rank == 2 && extents[0] == m_ && extents[1] == 1;
    if (!column && !row)
      throw nb::value_error(("bias has shape " + text_of(extents) + "; must be (" + std::to_string(n_) +
                             ",), added to each row, or (" + std::to_string(m_) + ", 1), added to each column")
                                .c_str());
    const std::int64_t stride = bias.strides[std::size_t(column ? bias.rank - 1 : 0)];
    if (stride < 1) bias = contiguous(bias, "bias");
    per_row_ = !column;
    bias_ = std::move(bias);
  }

  void find_aux() {
    if (options_.aux.is_none()) return;
    aux_ = output_of(options_.aux, "aux", options_.stream);
    require_same_memory(a_, "a", *aux_, "aux");
    if (!std::ranges::equal(aux_->extents(), out_.extents()))
      throw nb::value_error(
          ("aux has shape " + text_of(aux_->extents()) + "; must have that of the result, " + text_of(out_.extents()))
              .c_str());
    if (aux_->dtype != out_.dtype)
      throw nb::type_error((std::string("aux is of ") + dtype_name(aux_->dtype) + "; must be of the result's type, " +
                            dtype_name(out_.dtype))
                               .c_str());
    if (!aux_->in_c_order()) throw nb::value_error("aux has gaps between its elements; must be in C order");
  }

  /// The last axes of an operand; a copy of it where they are no matrix to the library.
  static Matrix matrix(Array& x, std::int64_t rows, std::int64_t columns, bool row_vector, bool column_vector,
                       const char* name) {
    for (int attempt = 0;; ++attempt) {
      const auto stride = [&](int from_end) { return x.strides[std::size_t(x.rank - from_end)]; };
      const std::optional<Matrix> found = row_vector      ? matrix_of(1, columns, columns, stride(1))
                                          : column_vector ? matrix_of(rows, 1, stride(1), rows)
                                                          : matrix_of(rows, columns, stride(2), stride(1));
      bool batch = true;  // the library takes strides of 0 and more
      for (int axis = 0; axis < batch_axes(x); ++axis) batch &= x.strides[std::size_t(axis)] >= 0;
      if (found && batch) return *found;
      if (attempt == 1) throw nb::value_error((std::string(name) + ": its copy is not contiguous").c_str());
      x = contiguous(x, name);
    }
  }

  std::optional<Matrix> matrix_of_output(const Array& out) const {
    const auto stride = [&](int from_end) { return out.strides[std::size_t(out.rank - from_end)]; };
    for (int axis = 0; axis < int(batch_.size()); ++axis)
      if (out.strides[std::size_t(axis)] < 0) return std::nullopt;
    if (vector_a_ && vector_b_) return matrix_of(1, 1, 1, 1);
    if (vector_a_) return matrix_of(1, n_, n_, stride(1));
    if (vector_b_) return matrix_of(m_, 1, stride(1), m_);
    return matrix_of(m_, n_, stride(2), stride(1));
  }

  const Array& result() const { return written_ ? *written_ : out_; }

  void describe(const Matrix& a, const Matrix& b, const Matrix& c) {
    std::vector<BatchAxis> axes;
    for (std::size_t axis = 0; axis < batch_.size(); ++axis)
      axes.push_back({batch_[axis],
                      {batch_stride(a_, batch_axes(a_), axis, batch_.size()),
                       batch_stride(b_, batch_axes(b_), axis, batch_.size()), result().strides[axis]}});
    loops_ = joined(axes);
    desc_ = tessera_packed_gemm(tessera_dtype(a_.dtype), m_, n_, k_);
    desc_.dtype_b = tessera_dtype(b_.dtype);
    desc_.dtype_d = tessera_dtype(result().dtype);
    desc_.compute = tessera_compute(compute_named(options_.compute));
    desc_.sums = tessera_sums(sums_named(options_.sums));
    desc_.triangle = tessera_triangle(triangle_);
    desc_.activation = tessera_activation(activation_named(options_.activation));
    desc_.order = tessera_order(c.order);
    desc_.trans_a = transpose_of(a.order != c.order, options_.conjugate_a);
    desc_.trans_b = transpose_of(b.order != c.order, options_.conjugate_b);
    if (prepared_ != nullptr) take(prepared_->form());
    desc_.lda = a.leading, desc_.ldb = b.leading, desc_.ldc = c.leading;
    if (bias_) {
      desc_.bias = per_row_ ? TESSERA_BIAS_PER_ROW : TESSERA_BIAS_PER_COLUMN;
      desc_.dtype_bias = tessera_dtype(bias_->dtype);
      desc_.bias_increment = std::max<std::int64_t>(bias_->strides[std::size_t(per_row_ ? 0 : bias_->rank - 1)], 1);
    }
    take_inner_batch(a, c);
    if (aux_) desc_.aux = TESSERA_AUX_STORE, desc_.ldaux = desc_.ldc, desc_.stride_aux = desc_.stride_c;
  }

  static tessera_transpose transpose_of(bool transposed, bool conjugated) {
    if (conjugated) return transposed ? TESSERA_CONJUGATE_TRANSPOSE : TESSERA_CONJUGATE;
    return transposed ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
  }

  /// What the prepared b is for, where nothing else was said.
  void take(const Prepared::Form& form) {
    desc_.trans_b = form.transposed ? TESSERA_TRANSPOSE : TESSERA_NO_TRANSPOSE;
    if (options_.compute.is_none()) desc_.compute = tessera_compute(form.compute);
    if (options_.sums.is_none()) desc_.sums = tessera_sums(form.sums);
  }

  /// The innermost axis of the batch is the library's, or becomes rows of one product where b is the same for all.
  void take_inner_batch(const Matrix& a, const Matrix& c) {
    if (loops_.empty()) return;
    const BatchAxis inner = loops_.back();
    loops_.pop_back();
    const bool one = inner.strides[1] == 0 && a.order == Order::row_major && c.order == Order::row_major &&
                     inner.strides[0] == m_ * a.leading && inner.strides[2] == m_ * c.leading && !per_row_ &&
                     triangle_ == Triangle::none;
    if (one) {
      desc_.m = m_ * inner.count;
      return;
    }
    desc_.batch = inner.count;
    desc_.stride_a = inner.strides[0], desc_.stride_b = inner.strides[1], desc_.stride_c = inner.strides[2];
  }

  void execute(const Place& place) {
    PlanOptions options = options_of(place.memory, options_.algorithm, options_.effort, options_.sm_limit);
    if (prepared_ != nullptr) options.prepared = &prepared_->operand();
    BorrowedPlan plan(place, &desc_, options);
    constexpr double kShort = 32.0 * 32.0 * 32.0;  // below that the lock is not worth giving up
    if (double(desc_.m) * double(desc_.n) * double(desc_.k) * double(desc_.batch) < kShort && loops_.empty())
      run_from(plan, 0, {0, 0, 0});
    else
      unlocked([&] { run_from(plan, 0, {0, 0, 0}); });
  }

  void run_from(BorrowedPlan& plan, std::size_t loop, std::array<std::int64_t, 3> at) const {
    if (loop < loops_.size()) {
      for (std::int64_t i = 0; i < loops_[loop].count; ++i) {
        run_from(plan, loop + 1, at);
        for (std::size_t x = 0; x < 3; ++x) at[x] += loops_[loop].strides[x];
      }
      return;
    }
    const auto operand = [&](const Array& x, tessera_role role, std::int64_t offset) {
      if (x.data == nullptr) return tessera_operand{nullptr, tessera_dtype(x.dtype), role};
      return tessera_operand{static_cast<char*>(x.data) + offset * std::int64_t(size_of(x.dtype)),
                             tessera_dtype(x.dtype), role};
    };
    tessera_operand operands[5] = {operand(a_, TESSERA_ROLE_A, at[0]), operand(b_, TESSERA_ROLE_B, at[1]),
                                   operand(result(), TESSERA_ROLE_C, at[2])};
    std::uint64_t count = 3;
    if (bias_) operands[count++] = operand(*bias_, TESSERA_ROLE_BIAS, 0);
    if (aux_) operands[count++] = operand(*aux_, TESSERA_ROLE_AUX, at[2]);  // laid out as the result
    const tessera_dtype type = scalar_dtype(result().dtype);
    const tessera_scalar scalars[] = {{type, 0, alpha_.real(), alpha_.imag()}, {type, 0, beta_.real(), beta_.imag()}};
    plan.execute(operands, count, scalars, 2);
  }

  const ProductOptions& options_;
  const Prepared* prepared_;  ///< in the place of b; null: b is an array
  Array a_, b_, out_;
  Triangle triangle_;
  std::complex<double> alpha_, beta_;
  std::optional<Array> bias_, aux_, written_;  ///< written_: what is written in place of an output with gaps
  bool vector_a_ = false, vector_b_ = false, per_row_ = false;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  std::vector<std::int64_t> batch_;
  std::vector<BatchAxis> loops_;  ///< outside the library's batch
  tessera_gemm_desc desc_{};
};

Result matmul(Any a, Any b, Any out, Any bias, Any aux, Text activation, Number alpha, Number beta, Text compute,
              Text sums, Text triangle, TypeName dtype, bool conjugate_a, bool conjugate_b, Text backend,
              Text algorithm, Text effort, Whole sm_limit, Stream stream) {
  const ProductOptions options{bias,      aux,    activation, compute, sums,  triangle, dtype,       backend,
                               algorithm, effort, sm_limit,   stream,  alpha, beta,     conjugate_a, conjugate_b};
  return Product(a, b, out, options).run();
}

constexpr const char* kMatmul = R"(activation(alpha * a @ b + beta * out + bias), as numpy.matmul has it.

a, b: arrays of float16, bfloat16, float32, float64, complex64 or complex128 in one memory: NumPy, PyTorch, CuPy, JAX,
anything with DLPack or the buffer protocol. Both of one type, or one float32 and the other of 16 bits, or float64 and
float32: the exact values are multiplied in the arithmetic of the wider type. Vectors and batches by NumPy's rules.
Operands whose rows and columns both have gaps are copied, others are used where they are. b may be what prepare()
made.
conjugate_a, conjugate_b: the conjugate of a, of b: matmul(a.T, b, conjugate_a=True) is a.conj().T @ b without a copy.
Complex products have no bias, no activation, no prepared b and no mirrored triangle; alpha and beta may be complex.
out: where the result goes, of the product's shape; None: a new array of a's kind. Operands that share memory with it
are copied first.
bias: n values, shape (n,), or m values, shape (m, 1), of the result's type or float32.
activation: relu, gelu, gelu_tanh, silu, sigmoid or tanh.
aux: an array of the result's shape and type, in C order, which gets what the activation is applied to; for gradients.
compute: strict, bf16x6, f16x3 or tf32, for float32; None: what TESSERA_GEMM_COMPUTE says, else strict.
sums: 'ordered': on one backend a row of the result has the same bits whatever other rows there are, in a batch and
alone; None or 'any': products are added in any order.
triangle: of a square result: 'lower' or 'upper', what is computed, with the diagonal (the rest of out stays as it is);
'mirrored', of a symmetric one, as a @ a.T: a triangle is computed, and its copy is the other side.
dtype: of the result: the wider of a and b, or float32 where they have 16 bits.
backend: 'cpu', 'cuda:0'...; None: the library's choice for host arrays, 'cuda' for arrays on a device.
algorithm: as in TESSERA_GEMM_ALGORITHM. effort: 'estimate' or 'measure'.
sm_limit: the most multiprocessors of a device that are occupied; 0: what TESSERA_SM_LIMIT says, else all.
stream: of CUDA, for arrays on a device: a number or a stream object; None: the one that PyTorch or CuPy works on now.
The work is queued there; with host arrays it is done on return.

Raises ValueError, TypeError, MemoryError, or RuntimeError where no backend can do it.)";

}  // namespace

void define_gemm(nb::module_& module) {
  using namespace nb::literals;
  module.def("matmul", matmul, "a"_a.none(), "b"_a.none(), nb::kw_only(), "out"_a = nb::none(), "bias"_a = nb::none(),
             "aux"_a = nb::none(), "activation"_a = nb::none(), "alpha"_a = 1.0, "beta"_a = 0.0,
             "compute"_a = nb::none(), "sums"_a = nb::none(), "triangle"_a = nb::none(), "dtype"_a = nb::none(),
             "conjugate_a"_a = false, "conjugate_b"_a = false, "backend"_a = nb::none(), "algorithm"_a = nb::none(),
             "effort"_a = nb::none(), "sm_limit"_a = 0, "stream"_a = nb::none(), kMatmul);
  define_activation_gradient(module);
  define_gemm_plan(module);
  define_prepared(module);
}

}  // namespace tessera::python
