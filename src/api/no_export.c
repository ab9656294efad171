/* Replaces src/export in a build with -Dexport=false. */
#include "api/left_out.h"
#include "export/export.h"

pcal_status pc_calibrator_export(const pcal_calibrator *calibrator, pcal_format format,
                                 const char *name, pc_text *out, pcal_error *err) {
  (void)calibrator;
  (void)format;
  (void)name;
  (void)out;
  return PC_FAIL_LEFT_OUT(err, "exports", "export");
}
