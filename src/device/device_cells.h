/* Bins of every class for rows with weights or groups, on a GPU: class_cells_body.h. */
#ifndef PC_DEVICE_CELLS_H
#define PC_DEVICE_CELLS_H

#include "device/class_cells.h"
#include "device/device.h"

/* Most grids of one call, and most bytes of their cells. */
#define PC_DEVICE_CELL_GRIDS 8
#define PC_DEVICE_CELL_BYTES ((size_t)32 << 20)

/* What is asked for, and the results, which are memory of the device. */
typedef struct pc_device_cells {
  pc_class_cells list[PC_DEVICE_CELL_GRIDS]; /* the caller fills grid, cuts, above and sums */
  size_t count;
  size_t groups; /* all group numbers are below */
  int by_groups; /* 0: groups of the batch do not matter */
  int normalize; /* of probabilities: as in pc_row_policy */
  int odd;       /* out: a row must be checked by the host, and the words have no meaning */
  const uint64_t *words[PC_DEVICE_CELL_GRIDS]; /* out: results of class_cells.h */
} pc_device_cells;

/* Bytes of the cells of one grid. */
size_t pc_device_cells_bytes(const pc_device_cells *cells, const pc_class_cells *grid);

int pc_device_has_cells(const pcal_device *device, pcal_type type);

/* Adds up the rows of a batch, whose weights and groups are on the host; all weights are valid.  After
 * success the caller reads the results and then calls pc_device_row_sums_done.  *done is 0, and nothing
 * is to be read, if the device has no memory for them. */
PC_CHECKED pcal_status pc_device_class_cells(pcal_device *device, const pcal_batch *batch,
                                             const pc_device_labels *labels,
                                             pc_device_cells *cells, int *done,
                                             pcal_error *err);

#endif
