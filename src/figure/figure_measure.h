/* From data to a figure: measures the figure's request, then builds it. */
#ifndef PC_FIGURE_MEASURE_H
#define PC_FIGURE_MEASURE_H

#include "figure/figure.h"

/* As pcal_figure_run, for a configuration with all fields set; figure must be initialised. */
PC_CHECKED pcal_status pc_figure_from_source(pcal_source *source,
                                             const pcal_figure_config *config,
                                             pc_figure *figure, pcal_error *err);

#endif
