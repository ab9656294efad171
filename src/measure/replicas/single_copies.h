/* Rows that stand for a few copies each, with every copy as a row of its own. */
#ifndef PC_SINGLE_COPIES_H
#define PC_SINGLE_COPIES_H

#include "measure/replicas/replicas.h"

/* True if the labels of a request are drawn faster for single copies: some row has several copies,
 * none has more than PC_DRAWS_UNITS, and there are not too many in all. */
int pc_single_copies_apply(const pc_replica_request *request);

/* The values of the request, with a row for each copy.  Each copy draws the label that it draws as
 * one of several (draws.h). */
PC_CHECKED pcal_status pc_single_copies_measure(const pcal_env *env,
                                                const pc_replica_request *request,
                                                double *values, pcal_error *err);

#endif
