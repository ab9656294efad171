#include "metrics/event_view.h"

pcal_status pc_event_view_choose(pc_options *options, size_t index, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  if (options->value[index].choice == PC_CHOICE_AUTO)
    pc_options_choose(options, index, layout->classes == 2 ? "positive" : "top");
  return pc_metric_choose_view(options, index, layout, config, err);
}
