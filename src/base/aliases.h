/* Names that other packages use for a metric, a calibrator or an option. */
#ifndef PC_ALIASES_H
#define PC_ALIASES_H

#include "base/options.h"

/* Copies a spec of PCAL_METRICS or PCAL_CALIBRATORS to out, with the registry's name in place of
 * an alias: "NLL" -> "log", "brier_score_loss" -> "brier:half=yes".  Any other name only becomes
 * lower case, with '-' for '_'. */
PC_CHECKED pcal_status pc_spec_resolve(pcal_registry registry, const char *spec,
                                       char out[PC_SPEC_MAX], pcal_error *err);

/* The option for which a word of `length` bytes is an alias, or NULL. */
const char *pc_option_alias(const char *word, size_t length);

#endif
