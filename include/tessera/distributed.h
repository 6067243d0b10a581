/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The C interface of libtessera_distributed: groups of ranks, and plans whose arrays are spread over them.
 *
 * A rank is a process or a thread. Functions marked "collective" are called by every rank of the group, in the same
 * order; where one of them fails, the others fail, too, and none waits for ever. Else the rules of tessera/tessera.h
 * hold. C++ programs use tessera/distributed.hpp, MPI programs tessera/mpi.hpp as well.
 */
#ifndef TESSERA_DISTRIBUTED_H
#define TESSERA_DISTRIBUTED_H

#include <tessera/tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups of ranks --------------------------------------------------------------------- */

/** How bytes travel between the ranks of a group, in host memory: what tessera/mpi.hpp fills with MPI. Messages from
 * one rank to another with one tag arrive in the order in which they were sent. Used by one thread of a rank at a time.
 * A function that fails returns a status and fills `error`; nobody uses the transport after that but by `destroy`. */
typedef struct tessera_transport {
  uint64_t struct_size;
  void* state; /**< the first argument of all functions */
  int32_t rank, size;
  /** Collective: copies the root's bytes to all. */
  tessera_status (*broadcast)(void* state, void* data, uint64_t bytes, int32_t root, tessera_error* error);
  /** Collective: `all` gets `bytes` of each rank, in the order of ranks. */
  tessera_status (*all_gather)(void* state, const void* mine, void* all, uint64_t bytes, tessera_error* error);
  /** Begin to send and to receive. `data` stays as it is until `wait` has returned for what `request` is set to. */
  tessera_status (*send)(void* state, const void* data, uint64_t bytes, int32_t peer, int32_t tag, void** request,
                         tessera_error* error);
  tessera_status (*receive)(void* state, void* data, uint64_t bytes, int32_t peer, int32_t tag, void** request,
                            tessera_error* error);
  /** Waits until a message has gone or come, and gives up the request. */
  tessera_status (*wait)(void* state, void* request, tessera_error* error);
  /** Gives up what the group holds; not collective. */
  void (*destroy)(void* state);
  /** Collective: each of `count` values becomes the largest that any rank has. May be null: all_gather takes its place,
   * with at most 32 bytes of each rank. */
  tessera_status (*all_reduce)(void* state, int64_t* values, uint64_t count, tessera_error* error);
} tessera_transport;

/** A rank's hold on a group of ranks. */
typedef struct tessera_comm tessera_comm;

/** A group over a transport, whose `destroy` is called once the group and all its plans are gone; also where this
 * fails. The struct is copied. */
TESSERA_API tessera_status tessera_comm_create(const tessera_transport* transport, tessera_comm** comm,
                                               tessera_error* error);
/** The group of this rank alone. */
TESSERA_API tessera_status tessera_comm_self(tessera_comm** comm, tessera_error* error);
/** A group of `count` ranks (1 to 1024) in this process, each for a thread: comms[r] is rank r. A rank that waits for
 * one whose handle and plans were destroyed gets an error. */
TESSERA_API tessera_status tessera_comm_threads(int32_t count, tessera_comm** comms, tessera_error* error);
/** Null is allowed. */
TESSERA_API void tessera_comm_destroy(tessera_comm* comm);
/** The number of this rank, from 0 on; -1 where `comm` is null. */
TESSERA_API int32_t tessera_comm_rank(const tessera_comm* comm);
/** How many ranks the group has; 0 where `comm` is null. */
TESSERA_API int32_t tessera_comm_size(const tessera_comm* comm);

/* ---- Stencils --------------------------------------------------------------------------- */

/** What carries halos between ranks. */
typedef int32_t tessera_halo_transport;
enum {
  /** Where halos are contiguous: copies between the devices of one process that reach each other, or NCCL where each
   * rank has a device of its own; else host. */
  TESSERA_HALO_DEFAULT = 0,
  TESSERA_HALO_HOST = 1, /**< the group's transport, through host memory */
  TESSERA_HALO_NCCL = 2  /**< NCCL, or an error that says why not */
};

/** How a domain is cut; zero bytes mean that the library chooses. The ranks are a grid, numbered with the last axis
 * fastest. */
typedef struct tessera_decomposition {
  uint64_t struct_size;
  /** Ranks along each axis, whose product is the size of the group; 0 where it may be chosen. Axes are cut from the
   * first on, which keeps messages contiguous. */
  int32_t ranks[TESSERA_MAX_RANK];
  /** Steps between two exchanges: halos are as many times as deep as a step reads. 0: the library
   * chooses. */
  int32_t depth;
  /** Of each axis: the points of each rank along it, or null: as equal as can be. */
  const int64_t* points[TESSERA_MAX_RANK];
  tessera_halo_transport halos;
} tessera_decomposition;

/** A rank's part of the domain, and the array that holds it with the points of its neighbours around it. Axes behind
 * the descriptor's rank have one point. */
typedef struct tessera_block {
  uint64_t struct_size;
  int64_t first[TESSERA_MAX_RANK];   /**< its first point, in the domain */
  int64_t extents[TESSERA_MAX_RANK]; /**< its points */
  int64_t low[TESSERA_MAX_RANK];     /**< points of the array before and behind them */
  int64_t high[TESSERA_MAX_RANK];
  int64_t strides[TESSERA_MAX_RANK]; /**< of the array, which is packed */
  int64_t offset;                    /**< of the block's first point from the array's begin */
  int64_t elements;                  /**< of the array */
} tessera_block;

/** A stencil on a domain that is spread over the ranks of a group. */
typedef struct tessera_distributed_stencil tessera_distributed_stencil;

/** Collective. The descriptor is that of the whole domain, without strides and halo sides, and the same on all ranks,
 * as is the decomposition. Each rank brings its own context; all must be of one backend with one instruction set. Rank
 * 0 chooses the algorithm. `decomposition` and `options` may be null; the options may not bring a workspace. Fails on
 * all ranks where these differ or a block is thinner than its halo. */
TESSERA_API tessera_status tessera_distributed_stencil_create(tessera_comm* comm, tessera_context* context,
                                                              const tessera_stencil_desc* desc,
                                                              const tessera_decomposition* decomposition,
                                                              const tessera_plan_options* options,
                                                              tessera_distributed_stencil** plan, tessera_error* error);
/** Waits for the plan's work; not collective. Null is allowed. */
TESSERA_API void tessera_distributed_stencil_destroy(tessera_distributed_stencil* plan);
/** The block of a rank. */
TESSERA_API tessera_status tessera_distributed_stencil_block(const tessera_distributed_stencil* plan, int32_t rank,
                                                             tessera_block* block, tessera_error* error);
/** Lives as long as the plan. */
TESSERA_API const char* tessera_distributed_stencil_describe(const tessera_distributed_stencil* plan);
/** Collective: the root's packed array of the whole domain, in host memory, to the blocks. `global` may be null on
 * other ranks. `local` is memory like that of the plan's operands, and its points outside the block stay as they are.
 */
TESSERA_API tessera_status tessera_distributed_stencil_scatter(tessera_distributed_stencil* plan, int32_t root,
                                                               const void* global, void* local, tessera_error* error);
/** Collective: the blocks to the root's array. */
TESSERA_API tessera_status tessera_distributed_stencil_gather(tessera_distributed_stencil* plan, int32_t root,
                                                              const void* local, void* global, tessera_error* error);
/** Collective. `in` and `out` are arrays as tessera_block tells, which share no element. The points around the block of
 * both are written; the block of `in` is only read. Complete on return for operands of the host, else queued on the
 * context's stream. */
TESSERA_API tessera_status tessera_distributed_stencil_execute(tessera_distributed_stencil* plan, void* in, void* out,
                                                               tessera_error* error);

/* ---- Systems of fields ------------------------------------------------------------------ */

/** A system of fields on a domain that is spread over the ranks of a group. */
typedef struct tessera_distributed_system tessera_distributed_system;

/** Collective. The descriptor is that of the whole domain, without strides, and the same on all ranks, as is the
 * decomposition. Each rank brings its own context; all must be of one backend with one instruction set. All take one
 * algorithm: the first that a plan of one rank would take and every rank's block is for, or that of the options. The
 * result has the bits of a plan of one rank with that algorithm. `decomposition` and `options` may be null; the options
 * may not bring a workspace. Fails on all ranks where these differ, a block is thinner than its halo, or an axis is cut
 * along which some fields that are read beside the point are periodic and others are not. */
TESSERA_API tessera_status tessera_distributed_system_create(tessera_comm* comm, tessera_context* context,
                                                             const tessera_system_desc* desc,
                                                             const tessera_decomposition* decomposition,
                                                             const tessera_plan_options* options,
                                                             tessera_distributed_system** plan, tessera_error* error);
/** Waits for the plan's work; not collective. Null is allowed. */
TESSERA_API void tessera_distributed_system_destroy(tessera_distributed_system* plan);
/** The block of a rank, and the array that each level of a state and each array has. A profile's array has the places
 * of that one along its axis: low + extents + high. */
TESSERA_API tessera_status tessera_distributed_system_block(const tessera_distributed_system* plan, int32_t rank,
                                                            tessera_block* block, tessera_error* error);
/** Lives as long as the plan. */
TESSERA_API const char* tessera_distributed_system_describe(const tessera_distributed_system* plan);
/** As tessera_plan_level_after. */
TESSERA_API tessera_status tessera_distributed_system_level_after(const tessera_distributed_system* plan, int32_t field,
                                                                  int32_t level, tessera_role* role,
                                                                  tessera_error* error);
/** Collective: a field of the whole domain from the root's packed array, in host memory, to the ranks' arrays. `global`
 * may be null on other ranks. Of a state the block is written, of an array and a profile also what lies around it. */
TESSERA_API tessera_status tessera_distributed_system_scatter(tessera_distributed_system* plan, int32_t field,
                                                              int32_t root, const void* global, void* local,
                                                              tessera_error* error);
/** Collective: the blocks of a state or an array to the root's array. */
TESSERA_API tessera_status tessera_distributed_system_gather(tessera_distributed_system* plan, int32_t field,
                                                             int32_t root, const void* local, void* global,
                                                             tessera_error* error);
/** Collective: brings what lies around the blocks of an array from the ranks that have it, for a program that has
 * filled the blocks by itself. Executions do it for states, and read arrays as they are. */
TESSERA_API tessera_status tessera_distributed_system_exchange(tessera_distributed_system* plan, int32_t field,
                                                               void* local, tessera_error* error);
/** Collective. Operands are those of a plan of one rank, with arrays as tessera_block tells, which share no element;
 * series are those of the whole system: each rank gives what is injected, the same on all, and gets all that is
 * recorded. What lies around the blocks of states is written. Complete on return for operands of the host and where the
 * system records, else queued on the context's stream. */
TESSERA_API tessera_status tessera_distributed_system_execute(tessera_distributed_system* plan,
                                                              const tessera_execution* execution, tessera_error* error);

/* ---- Matrix products --------------------------------------------------------------------- */

/** How a matrix is dealt to a grid of ranks: in blocks, row by row and column by column in turn, as ScaLAPACK does. Row
 * i is on row (source_row + i / block_rows) mod grid_rows of the grid, where it is row
 * i / (block_rows * grid_rows) * block_rows + i mod block_rows of the local array; columns likewise. Zero bytes mean
 * that the library chooses: a grid with least traffic, near to a square for a square result, and one block a rank. */
typedef struct tessera_layout {
  uint64_t struct_size;
  /** The grid, whose product is the size of the group: the same for all matrices of a product; 0 where it may be chosen
   * or another matrix tells. Rank r is at row r / grid_columns, column r mod grid_columns. */
  int32_t grid_rows, grid_columns;
  /** Rows and columns of a block of the stored matrix; 0: one block a rank, ceil(rows / grid_rows). */
  int64_t block_rows, block_columns;
  int32_t source_row, source_column; /**< where in the grid the first block is */
} tessera_layout;

/** A rank's part of a stored matrix: packed, in the order of the descriptor. */
typedef struct tessera_local_matrix {
  uint64_t struct_size;
  int64_t rows, columns; /**< 0 where no block falls to the rank */
  int64_t ld;            /**< columns (row-major) or rows (column-major), at least 1 */
  int64_t elements;      /**< of the local array */
} tessera_local_matrix;

/** C <- alpha * op(A) * op(B) + beta * C on matrices that are spread over the ranks of a group. */
typedef struct tessera_distributed_gemm tessera_distributed_gemm;

/** Collective. The descriptor is that of the whole matrices, the same on all ranks, as are the layouts, which may be
 * null. It has packed leading dimensions and a batch of 1; a bias or an activation is TESSERA_UNSUPPORTED. Each rank
 * brings its own context; all must be of one backend with one instruction set. `options` may be null; they may not
 * bring a workspace.
 *
 * On the host, SUMMA (van de Geijn and Watts, 1997): panels of op(A)'s columns travel along the rows of the grid and
 * those of op(B)'s rows along its columns, while the panels before them are multiplied. Nothing else moves where
 * neither is transposed, A's rows are dealt as C's and B's columns as C's, and blocks along k are not thin: a panel
 * ends where a block of A or B does, and should have 128 columns. Else one or both are redistributed first, at each
 * execution: they travel once more, and the plan holds another copy of them. Sums are taken panel by panel in the order
 * of k; C of 16 bits is rounded once, from sums of f32.
 *
 * On devices that reach each other, the rows of op(A) and columns of op(B) that a rank's part of C needs are gathered
 * with all of k, and multiplied in one to three parts. The plan holds them. Where they take more than
 * options.workspace_limit, or than a quarter of the device's memory where that is 0, k is cut into ranges, whose sums
 * are taken as those of panels. tessera_distributed_gemm_describe tells.
 *
 * The bits depend on the grid and the blocks. Error: (k + 4 + panels) u (|alpha| |A||B| + |beta| |C|), u as for
 * GemmPlan in tessera/gemm.hpp, where a range of k is a panel. */
TESSERA_API tessera_status tessera_distributed_gemm_create(tessera_comm* comm, tessera_context* context,
                                                           const tessera_gemm_desc* desc, const tessera_layout* a,
                                                           const tessera_layout* b, const tessera_layout* c,
                                                           const tessera_plan_options* options,
                                                           tessera_distributed_gemm** plan, tessera_error* error);
/** Waits for the plan's work; not collective. Null is allowed. */
TESSERA_API void tessera_distributed_gemm_destroy(tessera_distributed_gemm* plan);
/** The part that a rank has of a matrix: TESSERA_ROLE_A, B or C. */
TESSERA_API tessera_status tessera_distributed_gemm_local(const tessera_distributed_gemm* plan, tessera_role matrix,
                                                          int32_t rank, tessera_local_matrix* local,
                                                          tessera_error* error);
/** Lives as long as the plan. */
TESSERA_API const char* tessera_distributed_gemm_describe(const tessera_distributed_gemm* plan);
/** Collective: the root's packed matrix, in host memory and in the order of the descriptor, to the local arrays.
 * `global` may be null on other ranks, `local` where a rank has no elements. `local` is memory like that of the plan's
 * operands. */
TESSERA_API tessera_status tessera_distributed_gemm_scatter(tessera_distributed_gemm* plan, tessera_role matrix,
                                                            int32_t root, const void* global, void* local,
                                                            tessera_error* error);
/** Collective: the local arrays to the root's matrix. */
TESSERA_API tessera_status tessera_distributed_gemm_gather(tessera_distributed_gemm* plan, tessera_role matrix,
                                                           int32_t root, const void* local, void* global,
                                                           tessera_error* error);
/** Collective, with the same alpha and beta on all ranks, which are rounded to the type of scalars. `c` shares no
 * element with `a` and `b`. beta = 0 does not read C; alpha = 0 or k = 0 does not read A and B, which may be null then,
 * as may the arrays of a rank without elements. After a failure C is not specified. Complete on return for operands of
 * the host, else queued on the context's stream. */
TESSERA_API tessera_status tessera_distributed_gemm_execute(tessera_distributed_gemm* plan, double alpha, const void* a,
                                                            const void* b, double beta, void* c, tessera_error* error);

#ifdef __cplusplus
}
#endif

#endif
