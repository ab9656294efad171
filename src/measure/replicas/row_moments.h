/* Sums over rows that intervals need beside replicas, and the lattice on which they are exact.
 *
 * Rows of weight 1 (with any number of copies) are added up on a lattice: each term is rounded to a
 * multiple of 2^-k, where 2^(52 - k) exceeds the weight of all rows.  Sums of such terms are
 * exact in doubles, so that they depend neither on the order of rows nor on their division into
 * parts (rounds.h).  Fewer than PC_ROW_LATTICE_LEAST rows are added up as they are: a null of
 * few rows often has exactly the value of the data. */
#ifndef PC_ROW_MOMENTS_H
#define PC_ROW_MOMENTS_H

#include "machines/machine.h"

#define PC_ROW_LATTICE_LEAST 1024.0
#define PC_ROW_LATTICE_BITS_MAX 42

/* The k of the lattice for rows of this weight together; 0: there is none. */
unsigned pc_row_lattice_bits(double weight);
/* The number that rounds by being added and subtracted; 0 for 0 bits. */
double pc_row_lattice(unsigned bits);
/* The bits for these rows; 0 also if a weight is not 1, or if there are clusters. */
unsigned pc_kept_lattice_bits(const pc_kept_rows *rows);

static inline double pc_lattice_round(double value, double lattice) {
  return (value + lattice) - lattice;
}

/* Zeroed: no rows. */
typedef struct pc_row_moments {
  double total, copies;   /* weight of all rows, and their number */
  double hits;            /* weight of rows whose label is the class of the natural view */
  double scores;          /* of the natural view */
  double claimed, shown;  /* sums of score (1 - score) and of (score - hit)^2 */
  double claimed_classes; /* the same over all classes; 0 unless requested */
  double shown_classes;
} pc_row_moments;

#define PC_ROW_MOMENTS 8

/* bits: of the lattice.  over_classes: also the sums over all classes, which need all
 * probabilities. */
pc_row_moments pc_row_moments_of(const pc_kept_rows *rows, unsigned bits, int over_classes);

#endif
