// SPDX-FileCopyrightText: The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Stencils, systems of fields and matrix products on arrays that are spread over the ranks of a group: processes, or
/// threads of one. Link tessera::distributed. MPI programs include tessera/mpi.hpp as well.
#pragma once

#include <tessera/distributed.h>
#include <tessera/gemm.hpp>
#include <tessera/stencil.hpp>
#include <tessera/system_plan.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// A rank's hold on a group of ranks. Move-only; plans keep what they need of it alive. Used by one thread at a time.
class Comm {
 public:
  /// Over a transport, which is taken over, also where this throws.
  explicit Comm(const tessera_transport& transport) { make(tessera_comm_create, &transport); }
  /// The group of this rank alone.
  static Comm self() {
    tessera_comm* made = nullptr;
    detail::call(tessera_comm_self, &made);
    return Comm(made);
  }
  /// A group of `count` ranks in this process, each for a thread: for several devices, and for tests. A rank that waits
  /// for one whose Comm and plans are gone gets an Error.
  static std::vector<Comm> threads(int count) {
    std::vector<tessera_comm*> made(std::size_t((std::max)(count, 1)), nullptr);
    detail::call(tessera_comm_threads, std::int32_t(count), made.data());
    std::vector<Comm> comms;
    for (tessera_comm* comm : made) comms.push_back(Comm(comm));
    return comms;
  }

  int rank() const { return tessera_comm_rank(get()); }
  int size() const { return tessera_comm_size(get()); }
  tessera_comm* get() const { return handle_.get(); }

 private:
  explicit Comm(tessera_comm* made) : handle_(made) {}
  template <class Function, class... Arguments>
  void make(Function function, Arguments... arguments) {
    tessera_comm* made = nullptr;
    detail::call(function, arguments..., &made);
    handle_.reset(made);
  }
  struct Destroy {
    void operator()(tessera_comm* comm) const { tessera_comm_destroy(comm); }
  };
  std::unique_ptr<tessera_comm, Destroy> handle_;
};

/// What carries halos between ranks.
enum class HaloTransport : tessera_halo_transport {
  /// Where halos are contiguous: copies between devices of one process that reach each other, or NCCL where each rank
  /// has
  /// a device of its own; else host.
  automatic = TESSERA_HALO_DEFAULT,
  host = TESSERA_HALO_HOST,  ///< the group's transport, through host memory
  nccl = TESSERA_HALO_NCCL   ///< NCCL, or an error that says why not
};

/// How a domain is cut. The ranks are a grid, numbered with the last axis fastest.
struct Decomposition {
  Integers ranks = {};  ///< along each axis; empty, or 0 at an axis: the library chooses
  /// Steps between two exchanges: halos are as many times as deep as a step reads. 0: the library chooses.
  int depth = 0;
  std::vector<Integers> points = {};  ///< of each axis: the points of each rank along it; empty: as equal as can be
  HaloTransport halos = HaloTransport::automatic;
};

/// A rank's part of the domain, and the array that holds it with the points of its neighbours around it. Each has as
/// many entries as the domain has axes.
struct Block {
  std::vector<std::int64_t> first;      ///< its first point, in the domain
  std::vector<std::int64_t> extents;    ///< its points
  std::vector<std::int64_t> low, high;  ///< points of the array before and behind them
  std::vector<std::int64_t> strides;    ///< of the array, which is packed
  std::int64_t offset;                  ///< of the block's first point from the array's begin
  std::int64_t elements;                ///< of the array
};

namespace detail {

/// `decomposition` outlives it.
inline tessera_decomposition c_decomposition(const Decomposition& decomposition, std::size_t axes) {
  tessera_decomposition d{};
  d.struct_size = sizeof d;
  d.depth = decomposition.depth;
  d.halos = tessera_halo_transport(decomposition.halos);
  for (std::size_t axis = 0; axis < axes && axis < decomposition.ranks.size(); ++axis)
    d.ranks[axis] = std::int32_t(std::int64_t(decomposition.ranks[axis]));
  for (std::size_t axis = 0; axis < axes && axis < decomposition.points.size(); ++axis) {
    if (decomposition.points[axis].empty()) continue;
    d.points[axis] = decomposition.points[axis].data();
    d.ranks[axis] = std::int32_t(decomposition.points[axis].size());
  }
  return d;
}

/// The block that a plan tells.
template <class Function, class Plan>
Block block_of(Function function, const Plan* plan, int rank, std::size_t axes) {
  tessera_block b{};
  b.struct_size = sizeof b;
  call(function, plan, std::int32_t(rank), &b);
  const auto values = [axes](const std::int64_t* of) { return std::vector<std::int64_t>(of, of + axes); };
  return {values(b.first), values(b.extents), values(b.low), values(b.high), values(b.strides), b.offset, b.elements};
}

}  // namespace detail

/// A stencil on a domain that is spread over the ranks of a group.
/// The constructor, scatter, gather and execute are collective: every rank calls them, in the same order. Where one of
/// them fails the others fail, too. Any number of ranks and any cut give the same bits, on one backend with one
/// instruction set, where the descriptor asks for it by `sums`.
class DistributedStencilPlan {
 public:
  /// The descriptor is that of the whole domain, without strides and halo sides, and the same on all ranks, as are the
  /// decomposition and the options. Each rank brings its own context. A backend with memory of its own takes
  /// PlanOptions::operands = Memory::device.
  DistributedStencilPlan(const Comm& comm, const Context& context, const StencilDesc& desc,
                         const Decomposition& decomposition = {}, const PlanOptions& options = {})
      : rank_(comm.rank()), axes_(desc.extents.size()) {
    const StencilPlan::Translated c(desc, desc.dtype);
    const tessera_plan_options o = detail::c_options(options);
    const tessera_decomposition d = detail::c_decomposition(decomposition, axes_);
    tessera_distributed_stencil* made = nullptr;
    detail::call(tessera_distributed_stencil_create, comm.get(), context.get(), &c.c, &d, &o, &made);
    handle_.reset(made);
  }

  /// The block of this rank, or of another one.
  Block block() const { return block(rank_); }
  Block block(int rank) const {
    return detail::block_of(tessera_distributed_stencil_block, handle_.get(), rank, axes_);
  }
  /// One line: the plan of this rank's block, the block, and the ranks.
  std::string describe() const { return tessera_distributed_stencil_describe(handle_.get()); }

  /// The root's packed array of the whole domain, on the host, to the blocks; null on other ranks.
  void scatter(int root, const void* global, void* local) {
    detail::call(tessera_distributed_stencil_scatter, handle_.get(), std::int32_t(root), global, local);
  }
  /// The blocks to the root's array.
  void gather(int root, const void* local, void* global) {
    detail::call(tessera_distributed_stencil_gather, handle_.get(), std::int32_t(root), local, global);
  }
  /// `in` and `out` are arrays of block().elements, which share no element. The points around the block of both are
  /// written; the block of `in` is only read. Complete on return for a backend that computes on the host, else queued
  /// on the context's stream.
  void execute(void* in, void* out) { detail::call(tessera_distributed_stencil_execute, handle_.get(), in, out); }

 private:
  struct Destroy {
    void operator()(tessera_distributed_stencil* plan) const { tessera_distributed_stencil_destroy(plan); }
  };
  int rank_;
  std::size_t axes_;
  std::unique_ptr<tessera_distributed_stencil, Destroy> handle_;
};

/// A system of fields on a domain that is spread over the ranks of a group.
/// The constructor, scatter, gather, exchange and execute are collective: every rank calls them, in the same order.
/// Where one of them fails the others fail, too. Any number of ranks and any cut give the bits of a SystemPlan with the
/// same algorithm, which describe() tells.
class DistributedSystemPlan {
 public:
  /// The system is that of the whole domain, without strides, and the same on all ranks, as are the decomposition and
  /// the options. Each rank brings its own context. A backend with memory of its own takes PlanOptions::operands =
  /// Memory::device. See tessera_distributed_system_create.
  DistributedSystemPlan(const Comm& comm, const Context& context, const StencilSystem& system, Integer steps,
                        const Decomposition& decomposition = {}, const PlanOptions& options = {})
      : rank_(comm.rank()), axes_(system.extents().size()) {
    const StencilSystem::Description description(system, steps);
    own_ = description.fields();
    const tessera_plan_options o = detail::c_options(options);
    const tessera_decomposition d = detail::c_decomposition(decomposition, axes_);
    tessera_distributed_system* made = nullptr;
    detail::call(tessera_distributed_system_create, comm.get(), context.get(), description.get(), &d, &o, &made);
    handle_.reset(made);
  }

  /// The block of this rank, or of another one, and the array that each level of a state and each array has. The array
  /// of a profile has low + extents + high places along its axis.
  Block block() const { return block(rank_); }
  Block block(int rank) const { return detail::block_of(tessera_distributed_system_block, handle_.get(), rank, axes_); }
  /// One line: the plan of this rank's block, the block, and the ranks.
  std::string describe() const { return tessera_distributed_system_describe(handle_.get()); }

  /// A field of the whole domain from the root's packed array, on the host, to the ranks' arrays; null on other ranks.
  /// Of a state the block is written, of an array and a profile also what lies around it.
  void scatter(int root, const SystemField& field, const void* global, void* local) {
    together([&] { require(field.known()); },
             [&](bool own) {
               detail::call(tessera_distributed_system_scatter, handle_.get(), own ? field.index() : -1,
                            std::int32_t(root), global, local);
             });
  }
  /// The blocks of a state or an array to the root's array.
  void gather(int root, const SystemField& field, const void* local, void* global) {
    together([&] { require(field.known()); },
             [&](bool own) {
               detail::call(tessera_distributed_system_gather, handle_.get(), own ? field.index() : -1,
                            std::int32_t(root), local, global);
             });
  }
  /// Brings what lies around the blocks of an array, for a program that has filled the blocks by itself.
  void exchange(const SystemField& field, void* local) {
    together([&] { require(field.known()); },
             [&](bool own) {
               detail::call(tessera_distributed_system_exchange, handle_.get(), own ? field.index() : -1, local);
             });
  }

  /// Makes the steps, as SystemPlan::execute. Arrays have block().elements; series are those of the whole system: each
  /// rank gives what is injected, the same on all, and gets all that is recorded. Complete on return for a backend that
  /// computes on the host and where the system records, else queued on the context's stream.
  void execute(const std::vector<FieldArrays>& fields, const SystemSeries& series = {}) {
    std::vector<tessera_operand> operands;
    const auto read = [&] {
      for (const FieldArrays& given : fields) {
        require(given.field_);
        const std::int32_t first = TESSERA_ROLE_FIELD + 4 * given.field_.index;
        for (std::size_t level = 0; level < given.levels_.size(); ++level)
          operands.push_back(given.levels_[level].operand(first + std::int32_t(level)));
      }
      for (std::size_t i = 0; i < series.injected.size(); ++i)
        operands.push_back(series.injected[i].operand(TESSERA_ROLE_INJECTED + std::int32_t(i)));
      for (std::size_t i = 0; i < series.recorded.size(); ++i)
        operands.push_back(series.recorded[i].operand(TESSERA_ROLE_RECORDED + std::int32_t(i)));
    };
    tessera_execution e{};
    e.struct_size = sizeof e;
    e.operand_size = sizeof(tessera_operand), e.scalar_size = sizeof(tessera_scalar);
    together(read, [&](bool is_read) {
      if (is_read) e.operands = operands.data(), e.operand_count = operands.size(), e.first_step = series.first_step;
      detail::call(tessera_distributed_system_execute, handle_.get(), &e);
    });
  }

  /// As SystemPlan's.
  int newest(const SystemField& field) const { return place_after(field, 0); }
  int place_after(const SystemField& field, int level) const {
    tessera_role role = 0;
    require(field.known());
    detail::call(tessera_distributed_system_level_after, handle_.get(), field.index(), std::int32_t(level), &role);
    return int(role - TESSERA_ROLE_FIELD) % 4;
  }

 private:
  void require(const detail::KnownField& field) const {
    own_.require(field, [] { return std::string("field: "); });
  }
  /// A rank that was given another system's field, or whose memory ends in `prepare`, does its part of the call, which
  /// then fails on all ranks, so that none waits for it.
  template <class Prepare, class Call>
  void together(Prepare&& prepare, Call&& call) {
    std::exception_ptr refused;
    try {
      prepare();
    } catch (...) {
      refused = std::current_exception();
    }
    try {
      call(refused == nullptr);
    } catch (const Error&) {
      if (refused) std::rethrow_exception(refused);
      throw;
    }
  }
  struct Destroy {
    void operator()(tessera_distributed_system* plan) const { tessera_distributed_system_destroy(plan); }
  };
  int rank_;
  std::size_t axes_;
  detail::OwnFields own_;
  std::unique_ptr<tessera_distributed_system, Destroy> handle_;
};

/// How a matrix is dealt to a grid of ranks, in blocks: see tessera_layout. Rank r is at row r / grid_columns, column
/// r mod grid_columns of the grid.
struct Layout {
  int grid_rows = 0, grid_columns = 0;        ///< 0: as another matrix of the product, or the library chooses
  Integer block_rows = 0, block_columns = 0;  ///< of the stored matrix; 0: one block a rank
  int source_row = 0, source_column = 0;      ///< where in the grid the first block is
};

/// A rank's part of a stored matrix: packed, in the order of the descriptor.
struct LocalMatrix {
  std::int64_t rows, columns;  ///< 0 where no block falls to the rank
  std::int64_t ld;             ///< columns (row-major) or rows (column-major), at least 1
  std::int64_t elements;       ///< of the local array
};

/// C <- alpha op(A) op(B) + beta C on matrices that are spread over the ranks of a group.
/// The constructor, scatter, gather and execute are collective: every rank calls them, in the same order. Where one of
/// them fails the others fail, too. tessera_distributed_gemm_create tells what travels, and the bound of the error.
class DistributedGemmPlan {
 public:
  /// The descriptor is that of the whole matrices, with packed leading dimensions and a batch of 1, and the same on all
  /// ranks, as are the layouts and the options. Each rank brings its own context. A backend with memory of its own
  /// takes PlanOptions::operands = Memory::device.
  DistributedGemmPlan(const Comm& comm, const Context& context, const GemmDesc& desc, const Layout& a = {},
                      const Layout& b = {}, const Layout& c = {}, const PlanOptions& options = {})
      : rank_(comm.rank()) {
    const GemmPlan::Translated d(desc);
    const tessera_plan_options o = detail::c_options(options);
    const tessera_layout layouts[] = {translated(a), translated(b), translated(c)};
    tessera_distributed_gemm* made = nullptr;
    detail::call(tessera_distributed_gemm_create, comm.get(), context.get(), &d.c, &layouts[0], &layouts[1],
                 &layouts[2], &o, &made);
    handle_.reset(made);
  }

  /// The part of A, B or C that this rank has, or another one.
  LocalMatrix local(Role matrix) const { return local(matrix, rank_); }
  LocalMatrix local(Role matrix, int rank) const {
    tessera_local_matrix l{};
    l.struct_size = sizeof l;
    detail::call(tessera_distributed_gemm_local, handle_.get(), tessera_role(matrix), std::int32_t(rank), &l);
    return {l.rows, l.columns, l.ld, l.elements};
  }
  /// One line: the plan of a panel, this rank's part of C, and the ranks.
  std::string describe() const { return tessera_distributed_gemm_describe(handle_.get()); }

  /// The root's packed matrix, on the host and in the descriptor's order, to the local arrays; null on other ranks.
  void scatter(Role matrix, int root, const void* global, void* local) {
    detail::call(tessera_distributed_gemm_scatter, handle_.get(), tessera_role(matrix), std::int32_t(root), global,
                 local);
  }
  /// The local arrays to the root's matrix.
  void gather(Role matrix, int root, const void* local, void* global) {
    detail::call(tessera_distributed_gemm_gather, handle_.get(), tessera_role(matrix), std::int32_t(root), local,
                 global);
  }
  /// The arrays are local ones of the descriptor's types. alpha and beta are the same on all ranks. Complete on return
  /// for a backend that computes on the host, else queued on the context's stream.
  void execute(double alpha, const void* a, const void* b, double beta, void* c) {
    detail::call(tessera_distributed_gemm_execute, handle_.get(), alpha, a, b, beta, c);
  }

 private:
  static tessera_layout translated(const Layout& layout) {
    return {sizeof(tessera_layout), layout.grid_rows,  layout.grid_columns, layout.block_rows,
            layout.block_columns,   layout.source_row, layout.source_column};
  }
  struct Destroy {
    void operator()(tessera_distributed_gemm* plan) const { tessera_distributed_gemm_destroy(plan); }
  };
  int rank_;
  std::unique_ptr<tessera_distributed_gemm, Destroy> handle_;
};

}  // namespace tessera
