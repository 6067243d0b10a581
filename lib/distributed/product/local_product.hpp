// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// A rank's part of C: what it needs of A and B comes from other ranks, a part at first, so that a product hides how
/// the others come.
#pragma once

#include "block_cyclic.hpp"
#include "group/agreement.hpp"
#include "handles.hpp"
#include "transport/transport.hpp"

#include <tessera/dtype.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::distributed {

/// The type of scalars, and of sums over panels, for results of a type.
inline tessera_dtype scalar_of(tessera_dtype dtype) {
  return with_types(dtype, []<class T>(std::type_identity<T>) { return tessera_dtype(kDType<Scalar<T>>); });
}

/// C <- alpha A B + beta C, where A and B are of type `factors` and C is of type `result`.
inline void run_product(tessera_plan* plan, tessera_dtype factors, tessera_dtype result, double alpha, const void* a,
                        const void* b, double beta, void* c) {
  const tessera_operand operands[] = {{const_cast<void*>(a), factors, TESSERA_ROLE_A},
                                      {const_cast<void*>(b), factors, TESSERA_ROLE_B},
                                      {c, result, TESSERA_ROLE_C}};
  const tessera_dtype scalar = scalar_of(result);
  const tessera_scalar scalars[] = {{scalar, 0, alpha, 0.0}, {scalar, 0, beta, 0.0}};
  tessera_execution execution{};
  execution.struct_size = sizeof execution;
  execution.operands = operands, execution.operand_size = sizeof *operands, execution.operand_count = 3;
  execution.scalars = scalars, execution.scalar_size = sizeof *scalars, execution.scalar_count = 2;
  call(tessera_plan_execute, plan, &execution);
}

/// Left and right.
inline constexpr std::size_t kFactors = 2;

/// What a rank needs of a factor to compute its part of C: the rows that it has of C, with all of k. The right factor
/// is taken as its transpose, whose rows are C's columns. Gathered rows lie as the factor is stored, by rows or by
/// columns, so that nothing is transposed on its way.
class Gathering {
 public:
  /// `source` is the factor as it is spread, rows by k; `result` is C, or C^T for the right factor.
  Gathering(const Spread& source, const Spread& result, int ranks);

  /// Whether every rank has what it needs in its own array, as it would be gathered.
  bool is_in_place() const { return in_place_; }
  bool by_columns() const { return source_.by_columns; }
  /// Rows that a rank needs, and the most of any rank.
  std::int64_t rows(int rank) const { return result_.local_rows(rank); }
  std::int64_t most_rows() const;
  /// Of a rank's local array.
  std::int64_t stored_elements(int rank) const { return source_.elements(rank); }
  /// Elements from one row (or column) to the next, where `k` of them are gathered, or in the local array.
  std::int64_t ld(int rank, const Range& k) const { return by_columns() ? rows(rank) : k.length(); }
  std::int64_t stored_ld(int rank) const;
  /// Elements to the first of some rows, where `k` of them are gathered, or to those of k in the local array.
  std::int64_t offset(std::int64_t row, const Range& k) const { return by_columns() ? row : row * k.length(); }
  std::int64_t stored_offset(int rank, std::int64_t row, const Range& k) const;
  /// What `receiver` needs of the local array of `sender`, into its gathered rows, for some of its rows and of k, which
  /// is all that is gathered of k.
  Message message(int sender, int receiver, const Range& rows, const Range& k, std::int64_t element) const;
  std::int64_t count_pieces(int sender, int receiver) const;

  /// Of factors whose rows are dealt as those of C: how many ranks have a part of k for the same rows, each a place in
  /// a ring, where a rank is in it, which has some of k, and who is in a place of its ring.
  int places() const { return source_.columns.places; }
  int place(int rank) const { return source_.grid.column(rank); }
  int owner(const Range& k) const { return source_.columns.owner(k.begin); }
  int rank_at(int rank, int place) const { return source_.grid.rank(source_.grid.row(rank), place % places()); }

 private:
  std::vector<Run> row_runs(int sender, int receiver) const;
  std::vector<Run> k_runs(int sender) const;

  Spread source_, result_;
  bool in_place_;
};

/// What a product of a rank's part computes, and what is gathered before.
struct PartProduct {
  std::array<Range, kFactors> gathered;  ///< rows of the left factor, columns of the right one
  Range rows, columns, k;
  std::size_t slot = 0;               ///< where gathered rows are: with several ranges of k, in turns
  std::array<bool, kFactors> stored;  ///< what is multiplied is in the local array
};

/// In how many parts the rows (columns) of a factor come.
enum class Parts { one, two, three };

/// How the products of all ranks are cut: by parts of C, or by k, since gathered factors would take too much memory. On
/// the host by panels of k, which go around the rings of ranks that need them.
struct ProductCut {
  std::array<bool, kFactors> gathers{};  ///< which factors travel
  std::array<Parts, kFactors> parts{};
  std::vector<Range> ranges;  ///< of k
  bool rings = false;

  bool is_sliced() const { return rings || ranges.size() > 1; }
};
/// What the devices of all ranks can.
struct DeviceLimits {
  std::int64_t memory = 0;      ///< that gathered factors may take
  std::int64_t least_part = 0;  ///< elements of C that are work for all multiprocessors
};
/// `desc` is as for LocalProduct. At least 64 of k are gathered at a time, whatever memory they take.
ProductCut cut_of(const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors,
                  const DeviceLimits& limits);
/// Both factors have their rows dealt as those of C, and each panel is on one rank of a ring.
ProductCut ring_cut(const std::array<Gathering, kFactors>& factors, std::vector<Range> panels);

class LocalProduct {
 public:
  /// `desc` is that of the whole matrices; B is the left factor where they are stored by columns. Where k is cut, D has
  /// the type of sums.
  /// `copier` is null where arrays are the host's own memory.
  LocalProduct(std::unique_ptr<Transport> transport, tessera_context* context, tessera_context* copier,
               const tessera_gemm_desc& desc, const std::array<Gathering, kFactors>& factors, const ProductCut& cut,
               int rank, int ranks, const tessera_plan_options& options);
  ~LocalProduct();
  LocalProduct(const LocalProduct&) = delete;
  LocalProduct& operator=(const LocalProduct&) = delete;

  /// Of the largest product; null where this rank has none.
  const tessera_plan* plan() const { return plans_.empty() ? nullptr : plans_.rbegin()->second.get(); }
  /// `names` are those of the factors.
  std::string description(const std::array<const char*, kFactors>& names) const;

  /// Begins an execution on local arrays; speaks to nobody.
  void open(const std::array<const void*, kFactors>& factors, Progress& progress);
  /// C <- alpha left right + beta C; queued where that is on a device.
  void queue(double alpha, double beta, void* c, Progress& progress);
  /// When all ranks have queued theirs: what is queued on the context from now on waits until nobody reads the factors.
  void close() noexcept;
  /// Tells those that wait for this rank that it has failed.
  void fail() noexcept { transport_->fail(); }

 private:
  struct Key {
    std::int64_t m, n, k, lda, ldb;
    auto operator<=>(const Key&) const = default;
  };

  /// Whether rows of the left factor are the caller's columns.
  bool is_turned() const { return desc_.order == TESSERA_COLUMN_MAJOR; }
  std::vector<PartProduct> products_of(int rank) const;
  Messages messages_of(std::size_t product, const std::vector<std::vector<PartProduct>>& all) const;
  void make_plans(const tessera_plan_options& options);
  void add_gathered(Messages& messages, std::size_t factor, const std::vector<PartProduct>& each) const;
  void add_ring(Messages& messages, std::size_t factor, const Range& k) const;
  std::int64_t ld(std::size_t factor, const PartProduct& product) const;
  Key key_of(const PartProduct& product) const;
  const void* part(std::size_t factor, const PartProduct& product, const Range& rows) const;
  void show();
  void begin(std::size_t product, Progress& progress);
  void finish(std::size_t product, Progress& progress);
  const Arrays& targets(std::size_t product);
  void multiply(const PartProduct& product, double alpha, double beta, void* c) const;

  std::unique_ptr<Transport> transport_;
  tessera_context *context_, *copier_;
  tessera_gemm_desc desc_;
  std::array<Gathering, kFactors> factors_;
  ProductCut cut_;
  int rank_;
  std::int64_t element_;
  std::vector<PartProduct> products_;
  std::map<Key, PlanHandle> plans_;
  std::array<std::array<BufferHandle, 2>, kFactors> gathered_;
  std::array<BufferHandle, kFactors> readable_;  ///< copies of factors that others could not read
  std::array<const void*, kFactors> factors_given_{};
  Arrays arrays_;   ///< the factors as others read them
  Arrays targets_;  ///< room for where they are gathered
};

}  // namespace tessera::distributed
