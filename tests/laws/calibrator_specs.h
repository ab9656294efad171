/* Specs of calibrators: every row with all combinations of what its options can be; rows with
 * many options vary one of them at a time, and some together, by hand. */
#ifndef CALIBRATOR_SPECS_H
#define CALIBRATOR_SPECS_H

#include <stddef.h>

size_t calibrator_spec_count(void);
const char *calibrator_spec_at(size_t index); /* after the number was asked for */

#endif
