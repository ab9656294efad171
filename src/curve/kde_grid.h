/* The grid of tce-kde, that of the published code: 2^14 points from -0.6 to 1.6.
 *
 * A score in [0, 1] and its mirror image, -score below 0.5 and 2 - score from 0.5 on, are each
 * distributed to the two neighbouring points, in proportion to their distance.  The points and
 * their mirror images divide [0, 1] into cells: between two borders the shares are linear in
 * the score, so that those of all scores of a cell follow from their number and their sum. */
#ifndef PC_KDE_GRID_H
#define PC_KDE_GRID_H

#include <stddef.h>
#include <stdint.h>

#define PC_KDE_POINTS 16384
#define PC_KDE_FIRST (-0.6)
#define PC_KDE_STEP (2.2 / (PC_KDE_POINTS - 1))
#define PC_KDE_CELLS 14896

/* Points from the first one, not a whole number. */
static inline double pc_kde_place(double x) {
  return (x - PC_KDE_FIRST) / PC_KDE_STEP;
}

static inline double pc_kde_image(double score) {
  return score < 0.5 ? -score : 2 - score;
}

/* The cell of a score, clamped to [0, 1]; it does not decrease with the score, since one
 * neighbour never moves left and that of the image never right. */
static inline int64_t pc_kde_cell(double score) {
  const double clamped = score > 0 ? score < 1 ? score : 1.0 : 0.0;
  const int64_t here = (int64_t)pc_kde_place(clamped);
  const int64_t there = (int64_t)pc_kde_place(pc_kde_image(clamped));
  return here - there + (clamped < 0.5 ? 0 : PC_KDE_CELLS - 1);
}

#endif
