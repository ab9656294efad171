/* Ranking of classes by probability. */
#ifndef PC_CLASS_RANKING_H
#define PC_CLASS_RANKING_H

#include <stddef.h>
#include <stdint.h>

/* Fills order with the classes from the most to the least probable; ties: the lower class
 * first. scratch has the same length. */
void pc_class_ranking(const double *probs, size_t count, uint32_t *order, uint32_t *scratch);

#endif
