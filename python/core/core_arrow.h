/* One Arrow array as a stream. */
#ifndef CORE_ARROW_H
#define CORE_ARROW_H

#include "propercal.h"

/* Moves both into a stream that gives the array once; -1, and nothing moved, without memory. */
int core_arrow_once(struct ArrowSchema *schema, struct ArrowArray *array,
                    struct ArrowArrayStream *out);

#endif
