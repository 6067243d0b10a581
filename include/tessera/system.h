/* SPDX-FileCopyrightText: The Tessera Authors
 * SPDX-License-Identifier: Apache-2.0 */

/** @file
 * Stencil systems: several fields that are stepped together, with coefficients that vary from point to point, sources
 * and receivers. The structs grow by the rules of tessera/types.h.
 */
#ifndef TESSERA_SYSTEM_H
#define TESSERA_SYSTEM_H

#include <tessera/descriptors.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Most fields of a system. */
#define TESSERA_MAX_FIELDS 64
/** Most stages of a system, numbered from 0 on. */
#define TESSERA_MAX_STAGES 64
/** Most injections, and most recordings, each of many points. */
#define TESSERA_MAX_POINT_SETS 64
/** Most levels of time of a state. */
#define TESSERA_MAX_LEVELS 3
/** Most factors of a term. */
#define TESSERA_MAX_FACTORS 3
/** Most factors in front of a group's sum: an array, and a profile along each of three axes. */
#define TESSERA_MAX_GROUP_FACTORS 4

/** What a field is. */
typedef int32_t tessera_field_kind;
enum {
  TESSERA_FIELD_STATE = 0,  /**< values at 1 to 3 levels of time, of which each step makes the next */
  TESSERA_FIELD_ARRAY = 1,  /**< a value for each point, which is only read */
  TESSERA_FIELD_PROFILE = 2 /**< a value for each place along one axis, which is only read */
};

/** What becomes of a value that is read. */
typedef int32_t tessera_map;
enum {
  TESSERA_MAP_IDENTITY = 0,
  TESSERA_MAP_ABS = 1,           /**< |x| */
  TESSERA_MAP_POSITIVE_PART = 2, /**< max(x, 0); NaN stays NaN */
  TESSERA_MAP_NEGATIVE_PART = 3, /**< min(x, 0); NaN stays NaN */
  TESSERA_MAP_RECIPROCAL = 4     /**< 1 / x */
};

/** Where the next level of a state goes. */
typedef int32_t tessera_next_level;
enum {
  /** In the place of the oldest level, where nothing reads that any more when it is overwritten; else into an array of
   * the plan's workspace, which takes its turn among the levels. */
  TESSERA_NEXT_DEFAULT = 0,
  TESSERA_NEXT_IN_PLACE = 1, /**< in the place of the oldest level, or the plan is refused with the term at fault */
  TESSERA_NEXT_APART = 2     /**< into an array of the workspace */
};

/** A field of a system. */
typedef struct tessera_field {
  const char* name; /**< for messages; must be given, and differ from those of the others */
  tessera_field_kind kind;
  tessera_dtype dtype;     /**< 0: that of the system; a narrower one is only storage */
  int32_t levels;          /**< of a state, 1 to 3; else 0 */
  int32_t axis;            /**< of a profile, else 0 */
  tessera_next_level next; /**< of a state, else 0 */
  int32_t reserved;
  /** Elements from one point to the next along each axis, or TESSERA_PACKED (all axes or none); of a profile the first
   * entry alone counts. All levels of a state have the same. */
  int64_t strides[TESSERA_MAX_RANK];
  tessera_boundary boundary[TESSERA_MAX_RANK][2]; /**< of reads that leave the domain; not halo */
  double boundary_value[TESSERA_MAX_RANK][2];     /**< read where the mode is constant */
} tessera_field;

/** A value that is read: map(field[p + offset] at a level). */
typedef struct tessera_factor {
  int32_t field; /**< its place in the list of fields */
  int32_t level; /**< of a state: 1 (made by an earlier stage of this step), 0 (now), -1, -2; else 0 */
  tessera_map map;
  int32_t reserved;
  int64_t offset[TESSERA_MAX_RANK]; /**< in [-TESSERA_MAX_RADIUS, TESSERA_MAX_RADIUS]; of a profile along its axis */
} tessera_factor;

/** coefficient * product of 0 to 3 factors. */
typedef struct tessera_term {
  double coefficient;
  int64_t factor_count;
  tessera_factor factors[TESSERA_MAX_FACTORS];
} tessera_term;

/** (product of 0 to 4 factors at offset 0) * sum of terms. */
typedef struct tessera_group {
  int64_t factor_count;
  tessera_factor factors[TESSERA_MAX_GROUP_FACTORS];
  const tessera_term* terms;
  uint64_t term_size; /**< sizeof(tessera_term) */
  int64_t term_count;
} tessera_group;

/** The next level of a state, in the points of a box: a sum of groups. Stages run one after the other in a step. Points
 * in no box keep the value of level 0. */
typedef struct tessera_update {
  int32_t field;
  int32_t stage;                  /**< 0 and more */
  int64_t low[TESSERA_MAX_RANK];  /**< first point of the box */
  int64_t high[TESSERA_MAX_RANK]; /**< behind its last; where all are 0, the domain's */
  const tessera_group* groups;
  uint64_t group_size; /**< sizeof(tessera_group) */
  int64_t group_count;
} tessera_update;

/** Points at which series are added to a field's next level (injections), or from which its new level is read
 * (recordings), behind a stage. Entry e is at points[e], has weights[e], and belongs to the series[e]-th series.
 * Entries at one point are added in the list's order; a recording is the sum of its series' entries in that order. */
typedef struct tessera_points {
  int32_t field;
  int32_t stage;
  int64_t count;         /**< of entries */
  const int64_t* points; /**< count * rank places, a point after the other */
  const double* weights;
  const int64_t* series; /**< in [0, series_count) */
  int64_t series_count;
} tessera_points;

/** Fields u, v, ... on one grid, stepped together. */
typedef struct tessera_system_desc {
  uint64_t struct_size;
  tessera_op op;       /**< TESSERA_OP_SYSTEM */
  tessera_dtype dtype; /**< in which everything is computed: f32 or f64 */
  int32_t rank;        /**< 1, 2 or 3 */
  int32_t reserved;
  int64_t extents[TESSERA_MAX_RANK];
  int64_t steps;
  const tessera_field* fields;
  uint64_t field_size; /**< sizeof(tessera_field) */
  int64_t field_count;
  const tessera_update* updates;
  uint64_t update_size; /**< sizeof(tessera_update) */
  int64_t update_count;
  const tessera_points* injections;
  int64_t injection_count;
  const tessera_points* recordings;
  int64_t recording_count;
  uint64_t points_size; /**< sizeof(tessera_points) */
  /** The points that a step makes; where all of high are 0, those of the domain. Elsewhere the array of the next level
   * stays as it is. For parts of a step, each a plan of its own: at most 1 step, and all states go on in place. An
   * algorithm that takes no box refuses it. */
  int64_t low[TESSERA_MAX_RANK];
  int64_t high[TESSERA_MAX_RANK]; /**< behind the last */
} tessera_system_desc;

#ifdef __cplusplus
}
#endif

#endif
