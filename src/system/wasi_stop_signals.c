/* There are no signals: the host ends the program. */
#include "system/stop_signals.h"

void pc_stop_signals_start(const pc_stop_handlers *handlers) {
  (void)handlers;
}

int pc_stop_signals_set_timer(double seconds) {
  (void)seconds;
  return 0;
}

void pc_stop_signals_block(pc_stop_mask *saved) {
  saved->bytes[0] = 0;
}

void pc_stop_signals_unblock(const pc_stop_mask *saved) {
  (void)saved;
}
