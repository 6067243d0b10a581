// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A product over ranks, beside one rank's own plan and another library's.

#include "blocks.hpp"
#include "station.hpp"
#include "wide.hpp"

#include <cmath>

namespace tessera::perf {

namespace {

constexpr std::uint64_t kSeeds[] = {30, 31};

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

/// C of one rank at some places, compared with sums in higher precision. The largest error relative to its bound;
/// throws where one is larger.
template <class T>
double check_product(Device& device, const void* c, const DealtMatrix& m, std::int64_t k, std::int64_t n) {
  constexpr int kPlaces = 32;
  std::vector<std::int64_t> places, rows, columns;
  for (int i = 0; i < kPlaces; ++i) {
    const auto anywhere = [i](int which, std::int64_t extent) {
      return std::min(extent - 1,
                      std::int64_t((0.5 + 0.5 * random_value(9, std::uint64_t(2 * i + which))) * double(extent)));
    };
    rows.push_back(anywhere(0, m.rows.count())), columns.push_back(anywhere(1, m.columns.count()));
    places.push_back(rows.back() * m.columns.count() + columns.back());
  }
  std::vector<double> values(places.size());
  device.read(c, kDType<T>, places, values.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t row = m.rows.global(rows[i]), column = m.columns.global(columns[i]);
    Wide<T> sum = 0, magnitude = 0;
    for (std::int64_t t = 0; t < k; ++t) {
      const auto a = random_element<T>(kSeeds[0], std::uint64_t(row * k + t));
      const auto b = random_element<T>(kSeeds[1], std::uint64_t(t * n + column));
      const Wide<T> product = Wide<T>(Scalar<T>(a)) * Wide<T>(Scalar<T>(b));
      sum += product, magnitude += std::abs(product);
    }
    // As check.cpp has it; sums of tensor units cut off instead of rounding.
    const long double unit = (sizeof(T) == 2 ? 2.0L : 1.0L) * kUnitRoundoff<Scalar<T>>;
    const long double sums = static_cast<long double>(k + 4) * unit * magnitude;
    const long double bound = sums + roundoff_of<T>(std::abs(static_cast<long double>(sum)) + sums);
    const double error = double(std::abs(values[i] - sum) / bound);
    if (!(error <= 1.0))
      throw std::runtime_error("a wrong result: " + std::to_string(values[i]) + " instead of " +
                               std::to_string(double(sum)));
    worst = std::max(worst, error);
  }
  return worst;
}

/// One case in one type, and what a rank has of it.
template <class T>
class ScaledProduct {
 public:
  ScaledProduct(const Station& station, const ScalingCase& c) : s_(station), case_(c) {
    const int size = s_.group.size();
    for (int rows = 1; rows * rows <= size; ++rows)
      if (size % rows == 0) grid_rows_ = rows;
    grid_columns_ = size / grid_rows_;
    const GemmShape& g = c.problem.gemm;
    a_ = dealt(g.m, g.k), b_ = dealt(g.k, g.n), c_ = dealt(g.m, g.n);
  }

  void run() {
    make();
    std::vector<Subject> subjects;
    const auto execute = [this] { plan_->execute(1.0, memory_[0].get(), memory_[1].get(), 0.0, memory_[2].get()); };
    subjects.push_back(
        {"tessera:" + s_.backend + ":distributed", execute, case_.problem.work, checked(execute), plan_->describe()});
    add_own(subjects);
    add_peer(subjects);
    contest(s_, title(), std::move(subjects));
  }

 private:
  std::string title() const {
    return "distributed/" + case_.name(s_.group.size()) + "/" + case_.problem.kind.name() + "/cold";
  }
  std::int64_t block(std::int64_t extent, int ranks) const {
    return case_.block > 0 ? case_.block : (extent + ranks - 1) / ranks;
  }
  DealtMatrix dealt(std::int64_t rows, std::int64_t columns) const {
    const int rank = s_.group.rank();
    return {{rows, block(rows, grid_rows_), grid_rows_, rank / grid_columns_},
            {columns, block(columns, grid_columns_), grid_columns_, rank % grid_columns_}};
  }
  Layout layout(const DealtMatrix& m) const {
    Layout layout;
    layout.grid_rows = grid_rows_, layout.grid_columns = grid_columns_;
    layout.block_rows = m.rows.block, layout.block_columns = m.columns.block;
    return layout;
  }

  void make() {
    together(s_.group, [&] {
      const GemmShape& g = case_.problem.gemm;
      const GemmDesc desc{.m = g.m, .n = g.n, .k = g.k, .dtype = kDType<T>};
      plan_ = std::make_unique<DistributedGemmPlan>(s_.group.comm(), *s_.context, desc, layout(a_), layout(b_),
                                                    layout(c_), PlanOptions{.operands = s_.memory()});
    });
    together(s_.group, [&] {
      const DealtMatrix* const matrices[] = {&a_, &b_, &c_};
      for (std::size_t i = 0; i < 3; ++i) memory_[i] = s_.allocate(std::size_t(matrices[i]->elements()) * sizeof(T));
      for (std::size_t i = 0; i < 2; ++i) fill_matrix(*s_.device, memory_[i].get(), kDType<T>, *matrices[i], kSeeds[i]);
    });
  }

  /// Poisons C, executes, and compares on all ranks.
  double checked(const std::function<void()>& execute) {
    double error = 0.0;
    together(s_.group, [&] { s_.device->poison(memory_[2].get(), std::size_t(c_.elements()) * sizeof(T)); });
    together(s_.group, execute);
    together(s_.group, [&] {
      const GemmShape& g = case_.problem.gemm;
      if (c_.elements() > 0) error = check_product<T>(*s_.device, memory_[2].get(), c_, g.k, g.n);
    });
    return s_.group.max(error);
  }

  /// One rank's plan of the whole.
  void add_own(std::vector<Subject>& subjects) {
    std::function<void()> execute;
    std::string label;
    together(s_.group, [&] {
      if (!s_.is_root()) return;
      const Problem& p = case_.problem;
      std::array<std::shared_ptr<void>, 3> memory;
      for (std::size_t i = 0; i < 2; ++i) {
        memory[i] = s_.allocate(p.in_bytes(i));
        s_.device->fill(memory[i].get(), p.kind.dtype, p.in_count[i], kSeeds[i], {});
      }
      memory[2] = s_.allocate(p.out_bytes());
      const Prepared own = prepare(*s_.context, p, {.operands = s_.memory()});
      execute = [memory, run = own.execute] {
        const void* const in[] = {memory[0].get(), memory[1].get(), nullptr};
        run(in, memory[2].get());
      };
      label = GemmPlan(*s_.context, gemm_desc(p), {.operands = s_.memory()}).describe();
    });
    subjects.push_back({"tessera:" + s_.backend + ":one_rank", execute, case_.problem.work, 0.0, label});
  }

  void add_peer(std::vector<Subject>& subjects) {
    ProductPeer* const peer = s_.options.peers ? s_.product_peer : nullptr;
    if (peer == nullptr || s_.memory() == Memory::device) return;
    if (const std::string reason = peer->unsupported(case_.problem); !reason.empty())
      return s_.leave_out(title() + "/" + peer->name(), reason);
    std::function<void()> execute;
    together(s_.group, [&] {
      execute =
          peer->prepare(case_.problem, {grid_rows_, grid_columns_, a_.rows.block, b_.columns.block, a_.columns.block,
                                        b_.rows.block, memory_[0].get(), memory_[1].get(), memory_[2].get()});
    });
    subjects.push_back({peer->name(), execute, case_.problem.work, checked(execute)});
  }

  const Station& s_;
  const ScalingCase& case_;
  int grid_rows_ = 1, grid_columns_ = 1;
  DealtMatrix a_{}, b_{}, c_{};
  std::unique_ptr<DistributedGemmPlan> plan_;
  std::array<std::shared_ptr<void>, 3> memory_;
};

}  // namespace

void run_product(const Station& station, const ScalingCase& c) {
  with_types(c.problem.kind.dtype, [&]<class T>(std::type_identity<T>) { ScaledProduct<T>(station, c).run(); });
}

}  // namespace tessera::perf
