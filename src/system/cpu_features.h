/* Instruction sets of the processor that the kernels are compiled for (kernels/dispatch.c). */
#ifndef PC_CPU_FEATURES_H
#define PC_CPU_FEATURES_H

typedef enum pc_cpu_level {
  PC_CPU_PORTABLE = 0, /* what the compiler assumes */
  PC_CPU_AVX2,         /* AVX2 and FMA */
  PC_CPU_AVX512        /* and AVX-512 F, DQ and VL */
} pc_cpu_level;

/* The highest level that processor and operating system support. */
pc_cpu_level pc_cpu_features(void);

#endif
