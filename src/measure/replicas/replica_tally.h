/* Replicas of rows that no single process has: the sums of the bins of every replica, which add up
 * over parts of the rows (rounds.h).
 *
 * Only for rows of whole weights, and for
 *   - grids of scores of the natural view or of every class, whose values need nothing but the
 *     sums of their bins;
 *   - curves of the natural view, in cells (score_cells.h);
 *   - errors in other bins of a curve, which replicas keep (tally_slots.h);
 *   - sums of row values (tally_sums.h), which are exact.
 * Scores of the other three are rounded to a lattice (row_moments.h), so that sums are exact, and
 * those of parts add up to the bits of all rows. */
#ifndef PC_REPLICA_TALLY_H
#define PC_REPLICA_TALLY_H

#include "base/codec.h"
#include "measure/replicas/gap_direction.h"
#include "measure/replicas/replicas.h"
#include "measure/replicas/tally_sums.h"

/* The kinds of replicas that are tallied, in their order. */
typedef enum pc_tally_kind {
  PC_TALLY_DATA, /* the rows as they are: one replica */
  PC_TALLY_WEIGHTS,
  PC_TALLY_BLOCKS,
  PC_TALLY_LABELS,
  PC_TALLY_KINDS
} pc_tally_kind;

/* One grid, the common cells of one curve, or the bins of one metric. */
typedef struct pc_tally_slot {
  size_t slot;       /* tally_slots.h */
  size_t row_scores; /* scores of a row, which may share a range; 0 in tallies that were read */
  size_t kinds,
      ranges;   /* sums of a bin (replica_sum_kernels.h): 3 or 5; bins of all parts, or cells */
  double *sums; /* [replica][kind][range] */
  double *tilt; /* of the data: [range], as in pc_replica_base */
} pc_tally_slot;

typedef struct pc_replica_tally {
  const pcal_env *env;                     /* outlives the tally; NULL: empty */
  unsigned bits;                           /* of the lattice */
  size_t counts[PC_TALLY_KINDS], replicas; /* of each kind, and together */
  double *totals;                          /* weight of each replica */
  pc_tally_slot *slots;
  size_t slot_count;
  pc_tally_sums *sums; /* of PC_TALLY_LABELS */
  size_t sum_count;
  pc_row_moments moments;
  pc_gap_moments *gaps; /* by entry of the plan */
  size_t entry_count;
} pc_replica_tally;

/* What a tally holds beside the cells of curves; combined with |. */
#define PC_TALLY_WITH_GRIDS 1u
#define PC_TALLY_WITH_SUMS 2u

/* The tally of all rows, or of one group. */
typedef struct pc_group_tally {
  char *group;   /* its name; NULL: all rows */
  double weight; /* of its rows */
  unsigned bits; /* of the lattice; PC_ROW_LATTICE_BITS_MAX: too few rows for bins, sums alone;
                    0: no tally */
  pc_score_cell_lists cells;
  pc_replica_tally tally;
} pc_group_tally;

/* Numbers that the replicas of one request may have, over all its groups; a single group may have
 * PC_TALLY_SUMS_BYTES of sums beside them. */
#define PC_ROUND_DRAWS_MAX ((uint64_t)1 << 23)

/* True if the slots of a plan that rounds tally include this one.  They are taken in their
 * order as long as one group of them does not exceed PC_ROUND_DRAWS_MAX. */
int pc_replica_tally_takes(const pc_measure_plan *plan, size_t slot);

/* True if the tally of this slot alone does not exceed it: one process then uses the same
 * replicas. */
int pc_replica_tally_alone(const pc_measure_plan *plan, size_t slot);

/* Why a tally (NULL: none) lacks the replicas of an entry, although its interval or null needs
 * them; NULL: it has them, or none are needed. */
const char *pc_replica_tally_lacks(const pc_replica_tally *tally, const pc_measure_plan *plan,
                                   size_t entry);
/* True if it has the replicas of an entry of a curve, in bins or on cells that are narrow
 * enough. */
int pc_replica_tally_has_curve(const pc_replica_tally *tally, const pc_measure_plan *plan,
                               size_t entry);

/* Numbers that the tally of a plan holds; 0: it has no replicas. */
PC_CHECKED pcal_status pc_replica_tally_size(const pcal_env *env, const pc_measure_plan *plan,
                                             uint64_t *numbers, pcal_error *err);

/* A tally without rows; freed with pc_replica_tally_free.  cells: of curves, or NULL; curves
 * without cells are left out.  contents: of PC_TALLY_WITH_GRIDS ... */
PC_CHECKED pcal_status pc_replica_tally_new(const pcal_env *env, const pc_measure_plan *plan,
                                            unsigned bits, const pc_score_cell_lists *cells,
                                            unsigned contents, pc_replica_tally *out,
                                            pcal_error *err);
void pc_replica_tally_free(pc_replica_tally *tally); /* or a zeroed one */
/* Allocates the numbers of a tally whose form is filled: counts, entries, slots. */
PC_CHECKED pcal_status pc_replica_tally_room(const pcal_env *env, pc_replica_tally *tally,
                                             pcal_error *err);

/* Draws the replicas of distinct rows with the seed of env, into a tally without rows. */
PC_CHECKED pcal_status pc_replica_tally_draw(const pcal_env *env, const pc_measure_plan *plan,
                                             const pc_kept_rows *rows,
                                             const pc_score_cell_lists *cells,
                                             pc_replica_tally *out, pcal_error *err);

/* PCAL_USAGE: the tallies answer different requests. */
PC_CHECKED pcal_status pc_replica_tally_merge(pc_replica_tally *into,
                                              const pc_replica_tally *from, pcal_error *err);

/* True if the tally has the form of the plan, and its numbers can be those of rows of this weight
 * together. */
int pc_replica_tally_fits(const pc_replica_tally *tally, const pc_replica_tally *form,
                          double weight);

/* As pc_replicas_measure, from a tally; values of entries that are not requested are not
 * changed. */
PC_CHECKED pcal_status pc_replica_tally_measure(const pcal_env *env,
                                                const pc_replica_tally *tally,
                                                const pc_replica_request *request,
                                                double *values, pcal_error *err);

/* As bytes, in this order:
 *   bits (u8);
 *   replicas of each kind but the first (varints);
 *   number of slots, of slots of sums and of entries (varints);
 *   for each slot its number, kinds and ranges;
 *   for each slot of sums its number and values;
 *   totals;
 *   moments;
 *   gaps by entry;
 *   for each slot tilts and sums;
 *   the sums of tally_sums.h.
 * Numbers are integers in units of the lattice (varints, signed ones with the sign in the lowest
 * bit). */
void pc_encode_replica_tally(pc_encoder *out, const pc_replica_tally *tally);
/* The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_decode_replica_tally(pc_decoder *in, const pcal_env *env,
                                               pc_replica_tally *out, pcal_error *err);

#endif
