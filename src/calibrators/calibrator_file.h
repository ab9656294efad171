/* Calibrator files: JSON that people can read and that reads back exactly. */
#ifndef PC_CALIBRATOR_FILE_H
#define PC_CALIBRATOR_FILE_H

#include "calibrators/calibrator.h"

#define PC_CALIBRATOR_FORMAT "propercal-calibrator"
#define PC_CALIBRATOR_VERSION 1

void pc_calibrator_save(const pcal_calibrator *calibrator, pc_text *out);

/* Checks everything; name is used in sentences. */
PC_CHECKED pcal_status pc_calibrator_load(const void *bytes, size_t length, const char *name,
                                          const pcal_env *env, pcal_calibrator **out,
                                          pcal_error *err);

/* Members that files and descriptions share: status, iterations, gradient, objective; the
 * object "parameters"; the array "warnings". */
void pc_calibrator_write_outcome(const pcal_calibrator *calibrator, pc_json *json);
void pc_calibrator_write_parameters(const pcal_calibrator *calibrator, pc_json *json);
void pc_calibrator_write_warnings(const pcal_calibrator *calibrator, pc_json *json);

/* The member "classes": null for confidences. */
void pc_calibrator_write_classes(const pcal_calibrator *calibrator, pc_json *json);

#endif
