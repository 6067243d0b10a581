// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A product over ranks, beside one rank's own plan and another library's.

#include "check.hpp"
#include "random.hpp"
#include "scaled.hpp"

namespace tessera::perf {

namespace {

/// One axis of a matrix over one axis of the grid: blocks in turn.
struct Deal {
  std::int64_t extent, block;
  int ranks, own;

  std::int64_t count() const {
    std::int64_t sum = 0;
    for (std::int64_t begin = own * block; begin < extent; begin += ranks * block)
      sum += std::min(block, extent - begin);
    return sum;
  }
  std::int64_t global(std::int64_t local) const { return (local / block * ranks + own) * block + local % block; }
};

struct DealtMatrix {
  Deal rows, columns;
  std::int64_t elements() const { return rows.count() * columns.count(); }
};

/// A local matrix gets the elements of the whole one.
void fill_matrix(Device& device, void* local, DType dtype, const DealtMatrix& m, std::uint64_t seed) {
  const std::int64_t rows = m.rows.count(), columns = m.columns.count();
  for (std::int64_t i = 0; i < rows; i += m.rows.block)
    for (std::int64_t j = 0; j < columns; j += m.columns.block) {
      const BlockOfWhole b{{m.rows.extent, m.columns.extent},
                           {m.rows.global(i), m.columns.global(j)},
                           {std::min(m.rows.block, rows - i), std::min(m.columns.block, columns - j)},
                           {i, j},
                           {rows, columns}};
      fill_block(device, local, dtype, b, seed);
    }
}

/// One case in one type, and what a rank has of it.
class ScaledProduct : public ScaledCase {
 public:
  ScaledProduct(const Station& station, const ScalingCase& c) : ScaledCase(station, c) {
    const int size = s_.group.size();
    for (int rows = 1; rows * rows <= size; ++rows)
      if (size % rows == 0) grid_rows_ = rows;
    grid_columns_ = size / grid_rows_;
    const GemmShape& g = c.problem.gemm;
    matrices_ = {dealt(g.m, g.k), dealt(g.k, g.n), dealt(g.m, g.n)};
  }

 private:
  std::int64_t block(std::int64_t extent, int ranks) const {
    return case_.block > 0 ? case_.block : (extent + ranks - 1) / ranks;
  }
  DealtMatrix dealt(std::int64_t rows, std::int64_t columns) const {
    const int rank = s_.group.rank();
    return {{rows, block(rows, grid_rows_), grid_rows_, rank / grid_columns_},
            {columns, block(columns, grid_columns_), grid_columns_, rank % grid_columns_}};
  }
  Layout layout(std::size_t matrix) const {
    const DealtMatrix& m = matrices_[matrix];
    Layout layout;
    layout.grid_rows = grid_rows_, layout.grid_columns = grid_columns_;
    layout.block_rows = m.rows.block, layout.block_columns = m.columns.block;
    return layout;
  }

  void make() override;
  void execute() override { plan_->execute(1.0, memory_[0].get(), memory_[1].get(), 0.0, memory_[2].get()); }
  double checked() override;
  std::string describe() const override { return plan_->describe(); }
  void add_peers() override;
  void poison_result() const { s_.device->poison(memory_[2].get(), bytes_of(2)); }
  std::size_t bytes_of(std::size_t matrix) const {
    return std::size_t(matrices_[matrix].elements()) * size_of(whole_.kind.dtype);
  }

  int grid_rows_ = 1, grid_columns_ = 1;
  std::array<DealtMatrix, 3> matrices_{};  ///< A, B, C
  std::unique_ptr<DistributedGemmPlan> plan_;
  std::array<std::shared_ptr<void>, 3> memory_;
};

void ScaledProduct::make() {
  together(s_.group, [&] {
    const GemmShape& g = whole_.gemm;  // the plan itself lays out the local arrays
    const GemmDesc desc{.m = g.m, .n = g.n, .k = g.k, .dtype = whole_.kind.dtype};
    plan_ = std::make_unique<DistributedGemmPlan>(s_.group.comm(), *s_.context, desc, layout(0), layout(1), layout(2),
                                                  PlanOptions{.operands = s_.memory()});
  });
  together(s_.group, [&] {
    for (std::size_t i = 0; i < 3; ++i) memory_[i] = s_.allocate(bytes_of(i));
    for (std::size_t i = 0; i < 2; ++i)
      fill_matrix(*s_.device, memory_[i].get(), whole_.kind.dtype, matrices_[i], input_seed(kScaledSeed, int(i)));
    poison_result();
  });
}

/// C of each rank at some places, beside sums in higher precision.
double ScaledProduct::checked() {
  constexpr std::uint64_t kPlaces = 32;
  double error = 0.0;
  together(s_.group, [&] {
    const DealtMatrix& c = matrices_[2];
    if (c.elements() == 0) return;
    Samples samples;
    for (std::uint64_t i = 0; i < kPlaces; ++i) {
      const auto anywhere = [i](std::uint64_t which, std::int64_t extent) {
        return std::min(extent - 1, std::int64_t((0.5 + 0.5 * random_value(9, 2 * i + which)) * double(extent)));
      };
      const std::int64_t row = anywhere(0, c.rows.count()), column = anywhere(1, c.columns.count());
      const Element wanted = product_element(whole_, kScaledSeed, 0, c.rows.global(row), c.columns.global(column));
      samples.add(row * c.columns.count() + column, wanted.value, wanted.bound);
    }
    const Verdict verdict = samples.check(*s_.device, memory_[2].get(), whole_.kind.dtype);
    if (!verdict.failure.empty()) throw std::runtime_error(verdict.failure);
    error = verdict.error;
  });
  return error;
}

void ScaledProduct::add_peers() {
  ProductPeer* const peer = s_.options.peers ? s_.product_peer : nullptr;
  if (peer == nullptr || s_.memory() == Memory::device) return;
  if (const std::string reason = peer->unsupported(case_.problem); !reason.empty())
    return s_.leave_out(title() + "/" + peer->name(), reason);
  std::function<void()> execute;
  together(s_.group, [&] {
    const auto& [a, b, c] = matrices_;
    execute = peer->prepare(case_.problem, {grid_rows_, grid_columns_, a.rows.block, b.columns.block, a.columns.block,
                                            b.rows.block, memory_[0].get(), memory_[1].get(), memory_[2].get()});
    poison_result();
  });
  together(s_.group, execute);
  subjects_.push_back({peer->name(), execute, case_.problem.work, s_.group.max(checked())});
}

}  // namespace

std::unique_ptr<ScaledCase> scaled_product(const Station& station, const ScalingCase& c) {
  return std::make_unique<ScaledProduct>(station, c);
}

}  // namespace tessera::perf
