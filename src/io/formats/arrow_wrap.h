/* Wraps a plain Arrow array as a record batch of one column. */
#ifndef PC_ARROW_WRAP_H
#define PC_ARROW_WRAP_H

#include "base/memory.h"

/* Each replaces its argument by a struct with the argument as only child.  A column without
 * a name is called "values".  The allocator of env must outlive the result.  On failure the
 * argument is unchanged. */
PC_CHECKED pcal_status pc_arrow_wrap_schema(struct ArrowSchema *schema, const pcal_env *env,
                                            pcal_error *err);
PC_CHECKED pcal_status pc_arrow_wrap_array(struct ArrowArray *array, const pcal_env *env,
                                           pcal_error *err);

#endif
