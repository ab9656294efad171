/* Calibrators for other places: the steps of a recipe as code. */
#ifndef PC_EXPORT_H
#define PC_EXPORT_H

#include "base/text.h"
#include "calibrators/recipe.h"

/* `name` is that of the function or the graph: a C identifier. */
typedef struct pc_export {
  const pcal_calibrator *calibrator;
  const pc_recipe *recipe;
  const char *name;
} pc_export;

/* A C99 file that needs nothing but libm. */
void pc_export_c(const pc_export *what, pc_text *out);

/* An ONNX model (opset 13): float32 in and out. */
PC_CHECKED pcal_status pc_export_onnx(const pc_export *what, pc_text *out, pcal_error *err);

/* As pcal_calibrator_export, for arguments that are not NULL. */
PC_CHECKED pcal_status pc_calibrator_export(const pcal_calibrator *calibrator,
                                            pcal_format format, const char *name, pc_text *out,
                                            pcal_error *err);

#endif
