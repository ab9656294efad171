/* The --against flags: a second model for the same rows. */
#ifndef CLI_TWO_MODELS_H
#define CLI_TWO_MODELS_H

#include "session.h"

extern const cli_section cli_section_against;

int cli_has_against(const cli_options *options);

/* Measures the other model with the labels, weights and clusters of the first, whose source is
 * still open, and adds the differences to the results. */
pcal_status cli_measure_against(cli_session *session, const pcal_source *mine_source,
                                const pcal_measure_config *config, pcal_results *results,
                                pcal_error *err);

#endif
