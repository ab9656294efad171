/* In place of the compiled kernels on systems without a driver for GPUs. */
#include "device/device_code.h"

const char pc_device_code_ptx[] = "";
const unsigned char pc_device_code_sm_90[] = {0};
