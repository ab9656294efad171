/* What a calibrator is and how its fit went, for people and programs. */
#ifndef PC_DESCRIBE_H
#define PC_DESCRIBE_H

#include "calibrators/calibrator.h"

void pc_describe_text(const pcal_calibrator *calibrator, pc_text *out);
void pc_describe_json(const pcal_calibrator *calibrator, pc_text *out);

#endif
