/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * The C interface of libtessera: contexts, buffers, plans and the list of backends.
 *
 * Every function that can fail returns a tessera_status and, when `error` is not null, fills it. No
 * function prints, exits or aborts, and no C++ exception or type crosses this interface. After a
 * failure every object is still usable or can be destroyed. C++ programs use tessera/tessera.hpp.
 */
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include <tessera/descriptors.h>
#include <tessera/prepared.h>
#include <tessera/system.h>
#include <tessera/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** "major.minor.patch" of the library that is loaded, which may be newer than this header. */
TESSERA_API const char* tessera_version(void);

/* ---- Backends ---------------------------------------------------------------------------- */

/** One backend plugin that was found. Strings live as long as the process. */
typedef struct tessera_backend_info {
  uint64_t struct_size;
  const char* name;       /**< as in TESSERA_BACKEND: "cpu" */
  const char* variant;    /**< instruction set the file was built for: "v4", or "" */
  const char* path;       /**< the plugin's file */
  const char* build_info; /**< compiler and libraries; "" where it could not be loaded */
  const char* reason;     /**< why it is not available; "" when it is */
  int32_t available;
  int32_t device_count;
  double score; /**< predicted executions per second of a reference problem; larger is faster */
} tessera_backend_info;

/** Number of backends found, usable or not; -1 where memory or file descriptors are exhausted: the next call looks
 * again. */
TESSERA_API int64_t tessera_backend_count(void);
/** Describes the backend of that index, 0 and more. */
TESSERA_API tessera_status tessera_get_backend_info(int64_t backend, tessera_backend_info* info, tessera_error* error);
/** Describes a device of a backend; both indices count from 0. */
TESSERA_API tessera_status tessera_get_device_info(int64_t backend, int32_t device, tessera_device_info* info,
                                                   tessera_error* error);
/** Name of a backend's `index`-th algorithm for `op`, or null behind the last one. */
TESSERA_API const char* tessera_algorithm_name(int64_t backend, tessera_op op, int64_t index);
/** The `index`-th directory that was searched for plugins, or null behind the last one; "" where the system
 * does not tell which one it is. `origin` is set to why it was searched ("TESSERA_BACKEND_PATH", or how the
 * library came to it), `error` to why it could not be read, "" when it was; both may be null. */
TESSERA_API const char* tessera_backend_directory(int64_t index, const char** origin, const char** error);
/** The name of the `index`-th of Tessera's backends that has no plugin here, or null behind the last one. `option` is
 * set to the option of CMake that builds it, "TESSERA_BACKEND_KOKKOS"; it may be null. */
TESSERA_API const char* tessera_unbuilt_backend(int64_t index, const char** option);

/* ---- Context: backend + device + stream --------------------------------------------------- */

/** A backend, one of its devices and a stream. */
typedef struct tessera_context tessera_context;

/** How a context is made; zero bytes mean the defaults. */
typedef struct tessera_context_options {
  uint64_t struct_size;
  /** "name", "name:device", "auto", or null: what TESSERA_BACKEND says, else auto. */
  const char* backend;
  /** With `wrap_stream` set: a stream of the backend's own kind (cudaStream_t) that the caller owns
   * and keeps alive as long as the context, its plans and its buffers. Otherwise the context makes one. */
  void* native_stream; /* null without wrap_stream */
  int32_t wrap_stream;
  int32_t threads; /**< CPU threads; 0: TESSERA_NUM_THREADS, else OMP_NUM_THREADS, else those it may use */
  /** Work on the stream that the context makes goes before that on others, where the device has priorities. */
  int32_t high_priority;
} tessera_context_options;

/** `options` may be null. The context lives until it and all its plans and buffers are destroyed. */
TESSERA_API tessera_status tessera_context_create(const tessera_context_options* options, tessera_context** context,
                                                  tessera_error* error);
/** Another handle of the same context, to be destroyed on its own. */
TESSERA_API tessera_status tessera_context_share(const tessera_context* context, tessera_context** same,
                                                 tessera_error* error);
/** Gives up the caller's hold on the context, and that of the plan cache; null is allowed. */
TESSERA_API void tessera_context_destroy(tessera_context* context);
/** Waits for all work of the context; failures of queued work surface here. */
TESSERA_API tessera_status tessera_context_synchronize(tessera_context* context, tessera_error* error);
/** What is queued on the context from now on begins when what is queued on `earlier` by now has ended. Returns at once
 * where the two are of one backend that can, else when that is so. */
TESSERA_API tessera_status tessera_context_wait_for(tessera_context* context, tessera_context* earlier,
                                                    tessera_error* error);
/** The backend's name with its variant; lives as long as the context. */
TESSERA_API const char* tessera_context_backend(const tessera_context* context);
/** The number of its device in that backend. */
TESSERA_API int32_t tessera_context_device(const tessera_context* context);
/** The stream that the context's work is queued on (cudaStream_t for "cuda"). */
TESSERA_API tessera_status tessera_context_native_stream(tessera_context* context, void** stream, tessera_error* error);

/** Copies a strided array between the host's memory and that of the context's device, behind all work queued before;
 * complete on return. For a backend that computes on the host both are memory of the host. */
TESSERA_API tessera_status tessera_context_copy(tessera_context* context, const tessera_copy* copy,
                                                tessera_error* error);

/* ---- Buffer: memory of a context's device -------------------------------------------------- */

/** Memory of a context's device. */
typedef struct tessera_buffer tessera_buffer;

/** Allocates `bytes` (0 and more), not initialised, aligned to 256 bytes at least. */
TESSERA_API tessera_status tessera_buffer_create(tessera_context* context, int64_t bytes, tessera_buffer** buffer,
                                                 tessera_error* error);
/** Waits for queued work of its context, then frees; null is allowed. */
TESSERA_API void tessera_buffer_destroy(tessera_buffer* buffer);
/** The device pointer; valid until the buffer is destroyed. */
TESSERA_API void* tessera_buffer_data(const tessera_buffer* buffer);
/** Copies host memory into the buffer, behind all work queued before; `source` may be reused on return. */
TESSERA_API tessera_status tessera_buffer_upload(tessera_buffer* buffer, int64_t offset_bytes, const void* source,
                                                 int64_t bytes, tessera_error* error);
/** Copies the buffer into host memory, behind all work queued before; complete on return. */
TESSERA_API tessera_status tessera_buffer_download(const tessera_buffer* buffer, int64_t offset_bytes, void* target,
                                                   int64_t bytes, tessera_error* error);

/* ---- Plan: one operation, validated and ready to run ---------------------------------------- */

/** An operation that is ready to run. */
typedef struct tessera_plan tessera_plan;

/** Most device memory that a GEMM plan takes beside its operands unless it is told, in bytes: 64 MiB. */
#define TESSERA_DEFAULT_WORKSPACE_LIMIT (UINT64_C(64) << 20)

/** How a plan's algorithm is chosen where nobody forces one, with all its parameters. In either case wisdom comes
 * first: what was measured before, in this process or by the file that TESSERA_WISDOM names. */
typedef int32_t tessera_effort;
enum {
  /** What TESSERA_PLAN_EFFORT says, else estimate. */
  TESSERA_EFFORT_DEFAULT = 0,
  /** By the model of time. */
  TESSERA_EFFORT_ESTIMATE = 1,
  /** By running the best few, on operands that the plan makes for it: less than 50 ms for problems that take below
   * 1 ms, below 30 executions for others. Waits for what is queued on the context. Without memory for the operands
   * it is an estimate, and TESSERA_VERBOSE says so; on a stream that is being captured it is an error. */
  TESSERA_EFFORT_MEASURE = 2
};

/** How a plan is made; zero bytes mean the defaults. */
typedef struct tessera_plan_options {
  uint64_t struct_size;
  tessera_memory operands;
  tessera_effort effort;
  /** "[backend/]name[:key=value,...]", or null: what TESSERA_GEMM_ALGORITHM,
   * TESSERA_STENCIL_ALGORITHM or TESSERA_SYSTEM_ALGORITHM says, else the backend's choice. */
  const char* algorithm;
  /** Most device memory a GEMM plan may take beside its operands, in bytes; 0: TESSERA_DEFAULT_WORKSPACE_LIMIT, for
   * products of two types a copy of the narrower operand besides, for complex ones twice B and a transposed A, and for
   * those on a device that permit other arithmetic than strict a quarter of its memory, for parts of 2 to 6 bytes an
   * element. */
  uint64_t workspace_limit;
  /** Memory of the context's device to use instead of the plan's own; the caller keeps it alive.
   * It must hold what the plan needs (tessera_plan_info.workspace_bytes), aligned to 256 bytes. */
  void* workspace;
  uint64_t workspace_bytes;
  /** The most multiprocessors that the plan's kernels occupy; others are left to what runs beside them. 0: what
   * TESSERA_SM_LIMIT says, else all, as on a device that has no more and on a processor. An algorithm that cannot keep
   * it refuses, which may change the choice; the same algorithm and parameters give the same bits. */
  int32_t sm_limit;
  int32_t reserved; /**< 0 */
  /** What the plan takes in the place of B, or null. It stays alive as long as the plan. `context` is of the same
   * backend and device, or null for its own. The descriptor is that with which it was prepared, but for m, C, D, bias,
   * activation and aux, and the batch where B was one matrix; ldb and stride_b, unless that is 0, are not looked at.
   * Executions pass a null pointer for B. */
  const tessera_prepared* prepared;
} tessera_plan_options;

/** What a plan tells of itself. */
typedef struct tessera_plan_info {
  uint64_t struct_size;
  const char* backend;     /**< the strings live as long as the plan */
  const char* algorithm;   /**< "tiled_shared:tile=32": with every parameter */
  const char* description; /**< one line: operation, shapes, type, backend, algorithm, workspace */
  uint64_t workspace_bytes;
  int32_t device;
  tessera_memory operands;
  int32_t host_memory;   /**< 1 where the host can read the operands: host operands, or a backend on the host */
  int32_t device_memory; /**< 1 where the device can: device operands, or a backend on the host */
} tessera_plan_info;

/** Makes a plan from a tessera_gemm_desc, tessera_stencil_desc or tessera_system_desc. `context` may be null for host
 * operands: the backend is then chosen for this descriptor. `options` may be null. */
TESSERA_API tessera_status tessera_plan_create(tessera_context* context, const tessera_desc* desc,
                                               const tessera_plan_options* options, tessera_plan** plan,
                                               tessera_error* error);
/** Shows `visit` every way in which the context's backend would run the problem under these options, the one of the
 * least predicted time first: that is what tessera_plan_create makes. `options` may be null. */
TESSERA_API tessera_status tessera_visit_offers(tessera_context* context, const tessera_desc* desc,
                                                const tessera_plan_options* options, tessera_offer_visitor visit,
                                                void* data, tessera_error* error);
/** Makes another plan of the same problem, context, algorithm and parameters, with a workspace of its
 * own: for another thread. May be called while `plan` is executed. */
TESSERA_API tessera_status tessera_plan_clone(const tessera_plan* plan, tessera_plan** clone, tessera_error* error);
/** Waits for queued work, then destroys the plan; a borrowed one goes back to the cache at once. Null is allowed. */
TESSERA_API void tessera_plan_destroy(tessera_plan* plan);
/** Runs the plan. Host operands: complete on return. Device operands: queued on the context's
 * stream, nothing is allocated. One plan is executed by one thread at a time: a second call before
 * the first has returned is refused (TESSERA_INVALID_ARGUMENT) and changes nothing. */
TESSERA_API tessera_status tessera_plan_execute(tessera_plan* plan, const tessera_execution* execution,
                                                tessera_error* error);
/** Describes the plan. */
TESSERA_API tessera_status tessera_get_plan_info(const tessera_plan* plan, tessera_plan_info* info,
                                                 tessera_error* error);
/** Elements [first, last) that the plan may touch, counted from the pointer of the operand with that role. */
TESSERA_API tessera_status tessera_plan_operand_range(const tessera_plan* plan, tessera_role role, int64_t* first,
                                                      int64_t* last, tessera_error* error);

/** Where field number `field` has its next level: TESSERA_NEXT_IN_PLACE or _APART. Fails where `desc` is not valid. */
TESSERA_API tessera_status tessera_system_next_level(const tessera_system_desc* desc, int32_t field,
                                                     tessera_next_level* next, tessera_error* error);
/** Of a plan of a system: where each execution leaves a level of a field, 0 or less, as the role of the operand that
 * then holds it. An execution that begins there is given that operand's array for the role of that level. */
TESSERA_API tessera_status tessera_plan_level_after(const tessera_plan* plan, int32_t field, int32_t level,
                                                    tessera_role* role, tessera_error* error);

/* ---- One call, and the plan cache behind it --------------------------------------------------- */

/** C <- alpha * op(A) * op(B) + beta * C in one call, on host operands of the descriptor's types, with its activation
 * and without a bias; complete on return. alpha and beta are rounded to the type of scalars; complex ones are for plans
 * alone. `context` may be null: the backend is then chosen for this descriptor. A small product may need no plan
 * (tessera_small_gemm). Other plans come from the plan cache: the same product costs little more the next time than by
 * a plan that the program keeps. */
TESSERA_API tessera_status tessera_gemm(tessera_context* context, const tessera_gemm_desc* desc, double alpha,
                                        const void* a, const void* b, double beta, void* c, tessera_error* error);
/** The same without a plan. Returns 1 where C is computed; 0 where nothing is done, and tessera_gemm is to be called:
 * the backend has no function for it (not small, a batch, an activation, ordered sums, alpha = 0), an argument is
 * wrong, C may overlap A or B, or something is said about plans, as by TESSERA_VERBOSE, TESSERA_GEMM_ALGORITHM or
 * wisdom. `elements` may be null, or says how many elements a, b and c have at most. */
TESSERA_API int32_t tessera_small_gemm(tessera_context* context, const tessera_gemm_desc* desc, double alpha,
                                       const void* a, const void* b, double beta, void* c, const uint64_t elements[3]);
/** A stencil in one call, in the same way as tessera_gemm. */
TESSERA_API tessera_status tessera_stencil(tessera_context* context, const tessera_stencil_desc* desc, const void* in,
                                           void* out, tessera_error* error);

/** One step of a stencil on packed arrays, with sides that are fixed: a descriptor to begin with. `extents`
 * has `rank` entries and is copied; `taps` has `tap_count` and must be there when the plan is made. */
static inline tessera_stencil_desc tessera_packed_stencil(tessera_dtype dtype, int32_t rank, const int64_t* extents,
                                                          const tessera_tap* taps, int64_t tap_count) {
  tessera_stencil_desc desc = {sizeof(tessera_stencil_desc),
                               TESSERA_OP_STENCIL,
                               dtype,
                               TESSERA_COMPUTE_STRICT,
                               rank,
                               {0, 0, 0},
                               {TESSERA_PACKED, TESSERA_PACKED, TESSERA_PACKED},
                               {TESSERA_PACKED, TESSERA_PACKED, TESSERA_PACKED},
                               taps,
                               sizeof(tessera_tap),
                               tap_count,
                               {{TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_FIXED},
                                {TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_FIXED},
                                {TESSERA_BOUNDARY_FIXED, TESSERA_BOUNDARY_FIXED}},
                               {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}},
                               1,
                               TESSERA_SUMS_ANY,
                               0};
  int32_t axis;
  for (axis = 0; axis < rank && axis < TESSERA_MAX_RANK; ++axis) desc.extents[axis] = extents[axis];
  return desc;
}

/** tessera_plan_create, but from the plan cache: an idle plan of the same context, descriptor and options
 * if there is one, else a clone of one that is lent, else a new one. It is the caller's alone until
 * tessera_plan_destroy gives it back. The options may not bring a workspace. Plans of a context leave the
 * cache with tessera_context_destroy, all of them with tessera_reload_environment; the number of CPU
 * threads is that of the time when a plan was made. A forked child begins with an empty cache. Safe from
 * any thread. A captured CUDA graph needs its plan alive: make one for it. */
TESSERA_API tessera_status tessera_plan_borrow(tessera_context* context, const tessera_desc* desc,
                                               const tessera_plan_options* options, tessera_plan** plan,
                                               tessera_error* error);

/** What the plan cache holds. */
typedef struct tessera_plan_cache_info {
  uint64_t struct_size;
  int64_t idle;     /**< plans that wait for a caller */
  int64_t lent;     /**< plans that a caller has and that will be kept */
  uint64_t bytes;   /**< host and device memory of the idle ones: workspaces, copies of host operands, taps */
  int64_t max_idle; /**< the limits */
  uint64_t max_bytes;
  uint64_t found; /**< borrowed plans that were there, since the process began */
  uint64_t made;  /**< borrowed plans that had to be made */
} tessera_plan_cache_info;

/** Describes the plan cache. */
TESSERA_API tessera_status tessera_get_plan_cache_info(tessera_plan_cache_info* info, tessera_error* error);
/** Keeps at most `plans` idle plans (at first 1024) of `bytes` together (at first 256 MiB); the least
 * recently borrowed go first. 0 plans: none is kept. */
TESSERA_API tessera_status tessera_plan_cache_limit(int64_t plans, int64_t bytes, tessera_error* error);
/** Waits for the work of the idle plans and destroys them. Those that are lent go when they come back. */
TESSERA_API tessera_status tessera_plan_cache_clear(tessera_error* error);

/* ---- Wisdom: what was measured ---------------------------------------------------------------- */

/** Reads a file of wisdom into the process. Lines that this version cannot read are left out. TESSERA_INVALID_ARGUMENT
 * where the file cannot be read. Plans of the plan cache stay as they are. */
TESSERA_API tessera_status tessera_wisdom_load(const char* path, tessera_error* error);
/** Adds the process's wisdom to a file, which need not exist: what else is in it stays, and several processes may do so
 * at a time. TESSERA_INVALID_ARGUMENT where it cannot be written; it is then as it was. */
TESSERA_API tessera_status tessera_wisdom_save(const char* path, tessera_error* error);
/** Forgets the process's wisdom, and the plan cache. The file that TESSERA_WISDOM names is read again. */
TESSERA_API tessera_status tessera_wisdom_forget(tessera_error* error);

/** What a line of a file of wisdom says. The strings live as long as the visit. */
typedef struct tessera_wisdom_entry {
  uint64_t struct_size;
  const char* problem;      /**< canonical text; null where this version cannot read the line */
  const char* machine;      /**< the same of the backend, its device and all else that the choice depends on */
  const char* algorithm;    /**< with all parameters; of a choice among backends "cuda:0" */
  double seconds;           /**< of one execution */
  double estimated_seconds; /**< the same of what the model of time would have taken */
  const char* unreadable;   /**< the line, where this version cannot read it; else null */
} tessera_wisdom_entry;
/** Is shown an entry. `data` is what was passed beside the visitor. Throws nothing. */
typedef void (*tessera_wisdom_visitor)(void* data, const tessera_wisdom_entry* entry);
/** Shows `visit` what is in a file, and leaves the process's wisdom alone. TESSERA_INVALID_ARGUMENT where the file
 * cannot be read. */
TESSERA_API tessera_status tessera_wisdom_visit(const char* path, tessera_wisdom_visitor visit, void* data,
                                                tessera_error* error);

/** A way to run a problem that was timed. The strings live as long as the visit. */
typedef struct tessera_tried {
  uint64_t struct_size;
  const char* backend;
  const char* algorithm;    /**< with all parameters */
  double predicted_seconds; /**< of one execution with operands in the device's memory */
  double seconds;           /**< the same as it was measured, a lower quartile */
  double whole_seconds;     /**< of the best of a backend with operands in the host's memory, as it was measured where
                               backends were compared; else 0 */
  int32_t device;
  int32_t estimated; /**< 1: what a plan by the model of time would take */
  int32_t chosen;    /**< 1: what a plan takes from now on */
  int32_t reserved;
} tessera_tried;
/** Is shown a way. `data` is what was passed beside the visitor. Throws nothing. */
typedef void (*tessera_tried_visitor)(void* data, const tessera_tried* tried);
/** Measures as a plan of TESSERA_EFFORT_MEASURE would, whatever wisdom says and with more patience: 0.4 s for a problem
 * that takes below 1 ms, for others 10 s or 24 executions, whichever is more. What it finds is the process's wisdom
 * then, for plans that are made from now on; those of the plan cache stay. tessera_wisdom_save keeps it. Shows `visit`,
 * which may be null, what was tried. `context` and `options` as for tessera_plan_create. TESSERA_INVALID_ARGUMENT where
 * nothing is left to choose, as of an algorithm with parameters or for an empty output; TESSERA_OUT_OF_MEMORY where
 * there is none for the operands. */
TESSERA_API tessera_status tessera_tune(tessera_context* context, const tessera_desc* desc,
                                        const tessera_plan_options* options, tessera_tried_visitor visit, void* data,
                                        tessera_error* error);

/* ---- The environment, and what TESSERA_VERBOSE prints ----------------------------------------- */

/** Reads the TESSERA_ variables anew. The library reads them once, when it first needs one, since a
 * look at the environment beside another thread's setenv ends the program: to be called by programs
 * that change them, while no other thread does. The plan cache is cleared. TESSERA_BACKEND_PATH counts
 * only until the first context, plan or list of backends. */
TESSERA_API tessera_status tessera_reload_environment(tessera_error* error);

/** Sends the lines of TESSERA_VERBOSE to `callback` instead of stderr; null restores stderr. The
 * callback is called by any thread, one at a time, with a line without its newline. It may use the
 * library; lines that it causes itself are dropped, and so is what it throws. On return no other
 * thread is inside the old callback. */
TESSERA_API void tessera_set_verbose_callback(void (*callback)(const char* line, void* user), void* user);

#ifdef __cplusplus
}
#endif
#endif
