/* Lists given as one word: levels of quantiles, names of classes. */
#ifndef CLI_TEXT_LISTS_H
#define CLI_TEXT_LISTS_H

#include "args.h"

/* Reads "0.05,0.5,0.95" or "0.05/0.5/0.95"; NULL has no levels. */
pcal_status cli_read_levels(const char *flag, const char *text, double levels[PCAL_LEVELS_MAX],
                            size_t *count, pcal_error *err);

/* Cuts "cat,dog,bird" into names, in place.  The caller frees *names, also after a failure. */
pcal_status cli_read_classes(char *text, const char ***names, size_t *count, pcal_error *err);

#endif
