/* The search of vector scaling: w and b of softmax(w * x + b). */
#ifndef PC_VECTOR_SEARCH_H
#define PC_VECTOR_SEARCH_H

#include "calibrators/fit_rows.h"
#include "optim/truncated_newton.h"

/* Minimises the mean log score, starting at `at` (w, then b, in the units of the rows), which
 * becomes the result; the mean of b is 0.  The rows must be transposed. */
PC_CHECKED pcal_status pc_vector_search(const pc_fit_rows *rows, double *at,
                                        pc_truncated_newton_result *out, pcal_error *err);

#endif
