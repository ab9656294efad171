/* What a calibrator is and how its fit went, for people and programs. */
#ifndef PC_CALIBRATOR_DESCRIBE_H
#define PC_CALIBRATOR_DESCRIBE_H

#include "calibrators/calibrator.h"

void pc_calibrator_describe_text(const pcal_calibrator *calibrator, pc_text *out);
void pc_calibrator_describe_json(const pcal_calibrator *calibrator, pc_text *out);

#endif
