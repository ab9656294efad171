/* The bandwidth of highest likelihood among several candidates. */
#ifndef PC_BANDWIDTH_SEARCH_H
#define PC_BANDWIDTH_SEARCH_H

#include "stats/dirichlet_kde.h"

typedef struct pc_bandwidth_choice {
  double bandwidth;  /* the smallest on ties; 0 if no candidate has a finite likelihood */
  size_t candidates; /* whose likelihood was computed */
} pc_bandwidth_choice;

/* bandwidths: ascending, at most 1. */
PC_CHECKED pcal_status pc_bandwidth_search(const pc_dirichlet_kde *dirichlet,
                                           const double *bandwidths, size_t count,
                                           pc_bandwidth_choice *out, pcal_error *err);

#endif
