/* GPUs: one device for each that holds an array, opened on first use and kept until the module ends.
 * A child process does not use the devices of its parent. */
#include <unistd.h>

#include "core.h"

pcal_device *core_device_of(core_state *state, const void *address, pcal_error *error) {
  if (state->device_process != getpid())
    state->device_count = 0; /* of the parent process, which frees them */
  state->device_process = getpid();
  for (size_t i = 0; i < state->device_count; i++)
    if (pcal_device_holds(state->devices[i], address))
      return state->devices[i];
  if (state->device_count == CORE_DEVICES) {
    error->status = PCAL_USAGE;
    return NULL;
  }
  pcal_env env = PCAL_ENV_INIT;
  env.caller = PCAL_INTERFACE_PYTHON;
  pcal_device **place = &state->devices[state->device_count];
  if (pcal_device_open(address, &env, place, error) != PCAL_OK)
    return NULL;
  state->device_count++;
  return *place;
}

void core_device_end(core_state *state) {
  for (size_t i = 0; i < state->device_count && state->device_process == getpid(); i++)
    pcal_device_free(state->devices[i]);
  state->device_count = 0;
}
