/* The kinds of fields of a tally (fit_tally.h) that have files of their own. */
#ifndef PC_FIT_FIELD_H
#define PC_FIT_FIELD_H

#include "calibrators/fit_tally.h"

/* The next field, which is appended where the tally has none yet. */
PC_CHECKED pcal_status pc_fit_field_next(pc_fit_fields *fields, const pc_fit_field *like,
                                         pc_fit_field **out, pcal_error *err);

/* PC_FIT_SCORES: adds `count` sorted pairs. */
PC_CHECKED pcal_status pc_fit_field_add_pairs(const pcal_env *env, pc_fit_field *into,
                                              const double *pairs, size_t count,
                                              pcal_error *err);
void pc_fit_field_encode_scores(pc_encoder *out, const pc_fit_field *field);
void pc_fit_field_decode_scores(pc_decoder *in, pc_fit_field *field);

/* PC_FIT_RANGES: adds the rows of `from`; NULL: none. */
PC_CHECKED pcal_status pc_fit_field_merge_ranges(const pcal_env *env, pc_fit_field *into,
                                                 const pc_sparse_tally *from, pcal_error *err);
void pc_fit_field_encode_ranges(pc_encoder *out, const pc_fit_field *field);
PC_CHECKED pcal_status pc_fit_field_decode_ranges(pc_decoder *in, const pcal_env *env,
                                                  pc_fit_field *field, size_t count,
                                                  pcal_error *err);

#endif
