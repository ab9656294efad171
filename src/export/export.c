#include "export/export.h"

#include <string.h>

/* A letter, then letters, digits and underscores; short enough for every compiler. */
static pcal_status export_check_name(const char *name, pcal_error *err) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const size_t length = strlen(name);
  int good = length > 0 && length <= 48 && strchr(letters, name[0]) != NULL;
  for (size_t i = 0; good && i < length; i++)
    good = strchr(letters, name[i]) != NULL || strchr("0123456789", name[i]) != NULL;
  if (good)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "\"%.60s\" cannot be the name of a function; take letters, digits and "
                 "underscores, a letter first, at most 48",
                 name);
}

pcal_status pc_calibrator_export(const pcal_calibrator *calibrator, const char *to,
                                 const char *name, pc_text *out, pcal_error *err) {
  pc_recipe recipe;
  PC_TRY(export_check_name(name, err));
  if (strcmp(to, "c") != 0 && strcmp(to, "onnx") != 0)
    return pc_fail(err, PCAL_USAGE, "calibrators are exported to onnx or c, not to \"%.40s\"",
                   to);
  PC_TRY(pc_recipe_make(calibrator, &recipe, err));
  const pc_export what = {calibrator, &recipe, name};
  if (strcmp(to, "onnx") == 0)
    return pc_export_onnx(&what, out, err);
  pc_export_c(&what, out);
  return PCAL_OK;
}
