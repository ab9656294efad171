/* Bits of CPUID and XGETBV: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, CPUID, and volume 1, chapters 14.3 and 15.2.
 *
 * Edge cases:
 *  1. a processor may have instructions whose registers the operating system does not save:
 *     XCR0 says which it saves, and may be read only if OSXSAVE is set.
 *  2. in a virtual machine each CPUID takes microseconds: the level is kept.  It is the only
 *     variable of the library; every thread that computes it stores the same value. */
#include "system/cpu_features.h"

#include <stdatomic.h>
#include <stdint.h>

typedef struct cpu_registers {
  uint32_t a, b, c, d;
} cpu_registers;

static cpu_registers x86_cpuid(uint32_t leaf) {
  cpu_registers r = {0};
  __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(0));
  return r;
}

/* Register sets that the operating system saves. */
static uint32_t x86_saved_registers(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static pc_cpu_level x86_detect(void) {
  const uint32_t fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28;               /* 1, ECX */
  const uint32_t avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 31;          /* 7, EBX */
  const uint32_t ymm = 1u << 1 | 1u << 2, zmm = ymm | 1u << 5 | 1u << 6 | 1u << 7; /* XCR0 */
  if (x86_cpuid(0).a < 7 || (x86_cpuid(1).c & osxsave) == 0)
    return PC_CPU_PORTABLE;
  const uint32_t basic = x86_cpuid(1).c, extended = x86_cpuid(7).b;
  const uint32_t saved = x86_saved_registers();
  if ((basic & (fma | avx)) != (fma | avx) || (extended & avx2) == 0 || (saved & ymm) != ymm)
    return PC_CPU_PORTABLE;
  return (extended & avx512) == avx512 && (saved & zmm) == zmm ? PC_CPU_AVX512 : PC_CPU_AVX2;
}

pc_cpu_level pc_cpu_features(void) {
  static atomic_int x86_cpu_level; /* 1 + level; 0: not known yet */
  int level = atomic_load_explicit(&x86_cpu_level, memory_order_relaxed);
  if (level == 0) {
    level = 1 + (int)x86_detect();
    atomic_store_explicit(&x86_cpu_level, level, memory_order_relaxed);
  }
  return (pc_cpu_level)(level - 1);
}
