// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// ScaLAPACK's products on the same local arrays: a row-major matrix is the transposed column-major one, so that
/// C^T = B^T A^T is computed on the transposed grid.

#include "station.hpp"

#include <mpi.h>

#include <array>
#include <stdexcept>

extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
void descinit_(int* descriptor, const int* m, const int* n, const int* block_m, const int* block_n, const int* row,
               const int* column, const int* context, const int* ld, int* info);
void psgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const float* alpha,
             const float* a, const int* ia, const int* ja, const int* desc_a, const float* b, const int* ib,
             const int* jb, const int* desc_b, const float* beta, float* c, const int* ic, const int* jc,
             const int* desc_c);
void pdgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
             const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* desc_c);
int numroc_(const int* n, const int* block, const int* own, const int* first, const int* count);
}

namespace tessera::perf {
namespace {

template <class... Arguments>
void multiply(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const float* alpha,
              Arguments... rest) {
  psgemm_(trans_a, trans_b, m, n, k, alpha, rest...);
}
template <class... Arguments>
void multiply(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha,
              Arguments... rest) {
  pdgemm_(trans_a, trans_b, m, n, k, alpha, rest...);
}

/// The processes of a grid whose rows are our grid's columns.
class Blacs {
 public:
  Blacs(int rows, int columns) : rows_(rows), context_(Csys2blacs_handle(MPI_COMM_WORLD)) {
    Cblacs_gridinit(&context_, "Column-major", rows, columns);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }
  ~Blacs() { Cblacs_gridexit(context_); }
  Blacs(const Blacs&) = delete;
  Blacs& operator=(const Blacs&) = delete;

  std::array<int, 9> describe(std::int64_t rows, std::int64_t columns, std::int64_t block_rows,
                              std::int64_t block_columns) const {
    const int m = int(rows), n = int(columns), block_m = int(block_rows), block_n = int(block_columns), zero = 0;
    const int row = rank_ % rows_;
    const int ld = std::max(1, numroc_(&m, &block_m, &row, &zero, &rows_));
    std::array<int, 9> descriptor{};
    int info = 0;
    descinit_(descriptor.data(), &m, &n, &block_m, &block_n, &zero, &zero, &context_, &ld, &info);
    if (info != 0) throw std::runtime_error("descinit: argument " + std::to_string(-info));
    return descriptor;
  }

 private:
  int rows_, context_, rank_ = 0;
};

class Pdgemm : public ProductPeer {
 public:
  std::string name() const override { return "peer:pdgemm"; }
  std::string unsupported(const Problem& problem) const override {
    return problem.kind.name() == "f32" || problem.kind.name() == "f64" ? "" : "it has f32 and f64";
  }
  std::function<void()> prepare(const Problem& problem, const DealtProduct& d) override {
    const GemmShape& g = problem.gemm;
    const auto grid = std::make_shared<Blacs>(d.grid_columns, d.grid_rows);
    const auto a = grid->describe(g.k, g.m, d.a_block_k, d.block_m),
               b = grid->describe(g.n, g.k, d.block_n, d.b_block_k);
    const auto c = grid->describe(g.n, g.m, d.block_n, d.block_m);
    return with_types<WideTypes>(problem.kind.dtype, [&]<class T>(std::type_identity<T>) -> std::function<void()> {
      return [=] {
        (void)grid;
        const int m = int(g.n), n = int(g.m), k = int(g.k), first = 1;
        const T one = 1, zero = 0;
        multiply("N", "N", &m, &n, &k, &one, static_cast<const T*>(d.b), &first, &first, b.data(),
                 static_cast<const T*>(d.a), &first, &first, a.data(), &zero, static_cast<T*>(d.c), &first, &first,
                 c.data());
      };
    });
  }
};

}  // namespace

std::unique_ptr<ProductPeer> make_pdgemm() { return std::make_unique<Pdgemm>(); }

}  // namespace tessera::perf
