/* Specs of calibrators for the law tests: every method with all combinations of its options;
 * methods with many options vary one at a time, and some combinations listed by hand. */
#ifndef CALIBRATOR_SPECS_H
#define CALIBRATOR_SPECS_H

#include <stddef.h>

size_t calibrator_spec_count(void);
const char *calibrator_spec_at(size_t index); /* after calibrator_spec_count */

#endif
