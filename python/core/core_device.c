/* GPUs: one device for each that holds an array, opened on first use and kept until the process
 * ends, since a thread may use it until then; the driver cleans up.  A child process does not use
 * the devices of its parent. */
#include <stdio.h>

#include "core.h"

static pcal_device *core_device_find(core_state *state, const void *address,
                                     pcal_error *error) {
  if (state->device_process != core_process())
    state->device_count = 0; /* of the parent process, which frees them */
  state->device_process = core_process();
  for (size_t i = 0; i < state->device_count; i++)
    if (pcal_device_holds(state->devices[i], address))
      return state->devices[i];
  if (state->device_count == CORE_DEVICES) {
    error->status = PCAL_USAGE;
    snprintf(error->message, sizeof error->message,
             "arrays of more than %d GPUs were given; use fewer in one process", CORE_DEVICES);
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

pcal_device *core_device_of(core_state *state, const void *address, pcal_error *error) {
  core_state_lock(state);
  pcal_device *device = core_device_find(state, address, error);
  core_state_unlock(state);
  return device;
}
