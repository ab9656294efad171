/* Descriptions of a calibrator and of its fit, as text and as JSON. */
#ifndef PC_CALIBRATOR_DESCRIBE_H
#define PC_CALIBRATOR_DESCRIBE_H

#include "calibrators/calibrator.h"

void pc_calibrator_describe_text(const pcal_calibrator *calibrator, pc_text *out);
void pc_calibrator_describe_json(const pcal_calibrator *calibrator, pc_text *out);

#endif
