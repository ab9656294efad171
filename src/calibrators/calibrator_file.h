/* Calibrator files: JSON that people can read, and that restores a calibrator bit for bit. */
#ifndef PC_CALIBRATOR_FILE_H
#define PC_CALIBRATOR_FILE_H

#include "calibrators/calibrator.h"

#define PC_CALIBRATOR_FORMAT "propercal-calibrator"
#define PC_CALIBRATOR_VERSION 1

void pc_calibrator_save(const pcal_calibrator *calibrator, pc_text *out);

/* Reads and checks a calibrator; errors call the file `name`.  The caller frees *out. */
PC_CHECKED pcal_status pc_calibrator_load(const void *bytes, size_t length, const char *name,
                                          const pcal_env *env, pcal_calibrator **out,
                                          pcal_error *err);

/* Members that files and descriptions share: status, iterations, gradient and objective; the
 * object "parameters"; the array "warnings". */
void pc_calibrator_write_outcome(const pcal_calibrator *calibrator, pc_json *json);
void pc_calibrator_write_parameters(const pcal_calibrator *calibrator, pc_json *json);
void pc_calibrator_write_warnings(const pcal_calibrator *calibrator, pc_json *json);

/* "frequency" or "importance"; NULL if the fit is not weighted, or its file does not say.  The
 * member "weights" is written unless it is NULL. */
const char *pc_fit_weights_name(const pc_fit_info *fit);
void pc_calibrator_write_weights_are(const pcal_calibrator *calibrator, pc_json *json);

/* The member "classes"; null for confidences and for predictions of a number. */
void pc_calibrator_write_classes(const pcal_calibrator *calibrator, pc_json *json);

#endif
