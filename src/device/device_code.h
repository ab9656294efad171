/* The compiled kernels, embedded by tools/embed. */
#ifndef PC_DEVICE_CODE_H
#define PC_DEVICE_CODE_H

extern const char pc_device_code_ptx[];            /* for every GPU from Turing on */
extern const unsigned char pc_device_code_sm_90[]; /* machine code of Hopper */

#endif
