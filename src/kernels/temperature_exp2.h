/* Powers of 2 for the log score at a temperature, for temperature_kernels.c only.  No operation
 * is fused, so that all processors give the same bits; fma() in software would be a hundred
 * times slower on those without it.
 *
 * Formula:  2^y = 2^i r_j u(w),  i the whole part of y, j/16 + f the rest, 0 <= f < 1/16,
 *           w = 9/16 + f,  u(w) = (w^4 + a w^2 + b) (w + c) + d,  r_j = 2^(j/16) / u(9/16).
 *           w^2 is squared once more, so that u takes three products and four sums
 *           (Knuth, The Art of Computer Programming 2, 4.6.4, adapted coefficients; with 9/16
 *           the first addition is part of finding f).  Fitted for the least relative error
 *           with u(9/16) r_0 = 1 exactly.
 *
 * Accuracy: relative 8e-15. */
#ifndef PC_TEMPERATURE_EXP2_H
#define PC_TEMPERATURE_EXP2_H

#define EXP2_SHIFT 0x1.8p48   /* the low bits of y + EXP2_SHIFT, rounded down, are j */
#define EXP2_OFFSET 0.5625    /* w for f = 0 */
#define EXP2_LOWEST (-1100.0) /* 2^y is 0 below */
#define EXP2_A 0x1.c0d54c37fbb70p+4
#define EXP2_B 0x1.58f4d7a44b274p+8
#define EXP2_C 0x1.1045a4af40b02p+2
#define EXP2_D (-0x1.e4f7e0f92f088p+9)

/* r_j for j below 8, and from 8 on. */
#define EXP2_ROOTS_LOW                                                                        \
  0x1.64b90aa9b4e8ep-10, 0x1.74842b69abd42p-10, 0x1.85024d54e3e62p-10, 0x1.963b5d45e00d5p-10, \
      0x1.a837a1ea57cd9p-10, 0x1.baffbfbd4cf06p-10, 0x1.ce9cbd2e34451p-10,                    \
      0x1.e31806f730519p-10
#define EXP2_ROOTS_HIGH                                                                    \
  0x1.f87b74a47372fp-10, 0x1.0768a6a77b45dp-9, 0x1.1312264665037p-9, 0x1.1f3fd3ccb05e7p-9, \
      0x1.2bf7895c27931p-9, 0x1.393f636a8ab2ap-9, 0x1.471dc3b154028p-9, 0x1.5599543ec4f28p-9

#endif
