/* Export: calibrators as code for other programs, written from the steps of a recipe. */
#ifndef PC_EXPORT_H
#define PC_EXPORT_H

#include "base/text.h"
#include "calibrators/recipe.h"

/* name: of the function or the graph; a C identifier. */
typedef struct pc_export {
  const pcal_calibrator *calibrator;
  const pc_recipe *recipe;
  const char *name;
} pc_export;

/* Writes a C99 file that needs libm only. */
void pc_export_c(const pc_export *what, pc_text *out);

/* Writes an ONNX model (opset 13) with float32 inputs and outputs. */
PC_CHECKED pcal_status pc_export_onnx(const pc_export *what, pc_text *out, pcal_error *err);

/* As pcal_calibrator_export; no argument may be NULL. */
PC_CHECKED pcal_status pc_calibrator_export(const pcal_calibrator *calibrator,
                                            pcal_format format, const char *name, pc_text *out,
                                            pcal_error *err);

#endif
