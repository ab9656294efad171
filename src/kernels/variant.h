/* Kernels are compiled once for each instruction set, with PC_VARIANT set to its name: each
 * time one table of functions, such as pc_row_kernels_avx2 with the name "avx2". */
#ifndef PC_VARIANT_H
#define PC_VARIANT_H

#define PC_VARIANT_TABLE(table) PC_VARIANT_JOIN(table, PC_VARIANT)
#define PC_VARIANT_JOIN(table, variant) PC_VARIANT_PASTE(table, variant)
#define PC_VARIANT_PASTE(table, variant) table##_##variant

#define PC_VARIANT_NAME PC_VARIANT_TEXT(PC_VARIANT)
#define PC_VARIANT_TEXT(variant) PC_VARIANT_QUOTE(variant)
#define PC_VARIANT_QUOTE(variant) #variant

#endif
