/* Kernel sources are compiled once for each instruction set, with PC_VARIANT set to its name.
 * PC_VARIANT_TABLE(pc_row_kernels) is then pc_row_kernels_avx2, for example, which dispatch.c
 * puts into its table. */
#ifndef PC_VARIANT_H
#define PC_VARIANT_H

#define PC_VARIANT_TABLE(table) PC_VARIANT_JOIN(table, PC_VARIANT)
#define PC_VARIANT_JOIN(table, variant) PC_VARIANT_PASTE(table, variant)
#define PC_VARIANT_PASTE(table, variant) table##_##variant

#endif
