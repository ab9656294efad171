/* Arrow arrays that are no record batches, as record batches of one column. */
#ifndef PC_ARROW_WRAP_H
#define PC_ARROW_WRAP_H

#include "base/memory.h"

/* Each moves what it is given into a struct of one child, in the same place; a column without a
 * name is called "values".  The allocator of env must outlive the result.  On failure what was
 * given is as it was. */
PC_CHECKED pcal_status pc_arrow_wrap_schema(struct ArrowSchema *schema, const pcal_env *env,
                                            pcal_error *err);
PC_CHECKED pcal_status pc_arrow_wrap_array(struct ArrowArray *array, const pcal_env *env,
                                           pcal_error *err);

#endif
