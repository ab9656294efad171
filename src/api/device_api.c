/* Public entry points for GPUs: check arguments, then call the implementation. */
#include "base/budget.h"
#include "device/device.h"

pcal_status pcal_device_open(const void *address, const pcal_env *env, pcal_device **out,
                             pcal_error *err) {
  pc_error_clear(err);
  if (out != NULL)
    *out = NULL;
  if (out == NULL)
    return pc_fail(err, PCAL_USAGE, "pcal_device_open needs an out pointer");
  pcal_env opened;
  PC_TRY(pc_env_open(env, &opened, err));
  return pc_env_close(&opened, pc_device_open(address, &opened, out, err), err);
}

void pcal_device_free(pcal_device *device) {
  pc_device_free(device);
}

int pcal_device_holds(const pcal_device *device, const void *address) {
  return device != NULL && pc_device_holds(device, address);
}
