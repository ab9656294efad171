/* Rows of one type of number, for row_kernels.c only: included with NUMBER float and NAMED(x)
 * x_f32, and with NUMBER double and NAMED(x) x_f64.  If ROW_HAS_MAX is defined, NAMED(row_max)
 * is already defined. */

#if !defined(ROW_HAS_MAX)
/* The lowest index of `best`, given the largest of each lane; 0 if the row has changed
 * meanwhile and no longer contains it. */
static size_t NAMED(row_find)(const NUMBER *z, size_t count, const NUMBER *top, NUMBER best) {
  size_t lowest = count;
  for (size_t l = 0; l < PC_LANES; l++) {
    if (top[l] != best)
      continue;
    size_t j = l;
    while (j < lowest && z[j] != best)
      j += PC_LANES;
    lowest = j < lowest ? j : lowest;
  }
  return lowest < count ? lowest : 0;
}
#endif

#if !defined(ROW_HAS_MAX)
/* The largest of a row, its lowest index, and whether all numbers are finite: if they are, so
 * is their sum unless it overflows, and then z - z is 0 for finite z and NaN otherwise. */
static NUMBER NAMED(row_max)(const NUMBER *z, size_t count, size_t *at, int *finite) {
  NUMBER top[2 * PC_LANES], sum[2 * PC_LANES], best[PC_LANES], odd = 0;
  for (size_t l = 0; l < 2 * PC_LANES; l++) {
    top[l] = (NUMBER)-INFINITY;
    sum[l] = 0;
  }
  const size_t whole = count / (2 * PC_LANES) * (2 * PC_LANES);
  for (size_t j = 0; j < whole; j += 2 * PC_LANES)
    for (size_t l = 0; l < 2 * PC_LANES; l++) {
      top[l] = ROW_LARGER(top[l], z[j + l]);
      sum[l] += z[j + l];
    }
  for (size_t j = whole; j < count; j++) {
    top[j - whole] = ROW_LARGER(top[j - whole], z[j]);
    sum[j - whole] += z[j];
  }
  for (size_t l = 0; l < PC_LANES; l++) {
    best[l] = top[l] = ROW_LARGER(top[l], top[l + PC_LANES]);
    sum[l] += sum[l + PC_LANES];
  }
  for (size_t l = 0; l < 8; l++) {
    best[l] = ROW_LARGER(best[l], best[l + 8]);
    sum[l] += sum[l + 8];
  }
  for (size_t l = 0; l < 4; l++) {
    best[l] = ROW_LARGER(best[l], best[l + 4]);
    sum[l] += sum[l + 4];
  }
  const NUMBER all = (sum[0] + sum[2]) + (sum[1] + sum[3]);
  const NUMBER even = ROW_LARGER(best[0], best[2]);
  const NUMBER uneven = ROW_LARGER(best[1], best[3]);
  const NUMBER max = ROW_LARGER(even, uneven);
  if (all - all != 0)
    for (size_t j = 0; j < count; j++)
      odd += z[j] - z[j];
  *finite = odd == 0;
  *at = *finite ? NAMED(row_find)(z, count, top, max) : 0;
  return max;
}
#endif

/* Short rows are faster without vectors. */
static size_t NAMED(row_top)(const NUMBER *z, size_t count, int *finite) {
  NUMBER best = (NUMBER)-INFINITY, odd = 0;
  size_t at = 0;
  if (count >= PC_LANES) {
    NAMED(row_max)(z, count, &at, finite);
    return at;
  }
  for (size_t j = 0; j < count; j++) {
    at = z[j] > best ? j : at;
    best = ROW_LARGER(best, z[j]);
    odd += z[j] - z[j];
  }
  *finite = odd == 0;
  return *finite ? at : 0;
}

/* Sums of the terms of a row, and of their squares, over all but the largest. */
static void NAMED(row_sum)(const NUMBER *restrict z, size_t count, double *restrict terms,
                           pc_softmax_facts *facts) {
  const double max = facts->max, lowest = pc_lane_exp_lowest(max);
  double sum[PC_LANES] = {0}, square[PC_LANES] = {0};
  double reduced[ROW_TILE], scale[ROW_TILE];
  for (size_t begin = 0; begin < count; begin += ROW_TILE) {
    const size_t left = count - begin;
    const size_t here = left < ROW_TILE ? left : ROW_TILE;
    pc_prefetch(z + begin, here * sizeof *z, count * sizeof *z);
    for (size_t i = 0; i < here; i++) {
      const double gap = (double)z[begin + i] - max;
      reduced[i] = pc_lane_exp_reduce(gap < lowest ? lowest : gap, &scale[i]);
    }
    if (facts->top - begin < here)
      scale[facts->top - begin] = 0;
    size_t whole = here;
    for (; whole % PC_LANES != 0; whole++)
      reduced[whole] = scale[whole] = 0;
    for (size_t j = 0; j < whole; j += PC_LANES)
      for (size_t l = 0; l < PC_LANES; l++) {
        const double term = pc_lane_exp_finish(reduced[j + l], scale[j + l]);
        sum[l] += term;
        square[l] += term * term;
        reduced[j + l] = term;
      }
    for (size_t i = 0; terms != NULL && i < here; i++)
      terms[begin + i] = reduced[i];
  }
  if (terms != NULL)
    terms[facts->top] = 1.0;
  facts->rest = row_fold(sum);
  facts->rest_square = row_fold(square);
}

static void NAMED(row_softmax)(const NUMBER *z, size_t count, double *terms,
                               pc_softmax_facts *facts) {
  facts->max = (double)NAMED(row_max)(z, count, &facts->top, &facts->finite);
  if (facts->finite)
    NAMED(row_sum)(z, count, terms, facts);
}

/* The largest of each lane; returns 1 if all numbers are finite and no sum overflows. */
ROW_INLINE int NAMED(row_tops)(const NUMBER *restrict z, size_t count, NUMBER *restrict top) {
  NUMBER sum[PC_LANES], odd[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++) {
    top[l] = (NUMBER)-INFINITY;
    sum[l] = 0;
  }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      top[l] = ROW_LARGER(top[l], z[j * PC_LANES + l]);
      sum[l] += z[j * PC_LANES + l];
    }
  for (size_t l = 0; l < PC_LANES; l++)
    odd[l] = sum[l] - sum[l];
  for (size_t l = 0; l < 8; l++)
    odd[l] += odd[l + 8];
  for (size_t l = 0; l < 4; l++)
    odd[l] += odd[l + 4];
  return (odd[0] + odd[2]) + (odd[1] + odd[3]) == 0;
}

/* PC_LANES rows from row `first` on.  `where` is the lowest class that has the largest logit of
 * its lane; only its term is left out. */
ROW_INLINE void NAMED(row_lanes)(const NUMBER *restrict z, size_t count, const int32_t *labels,
                                 size_t first, double *restrict terms, pc_narrow_facts *facts) {
  NUMBER transposed[PC_NARROW_CLASSES * PC_LANES], top[PC_LANES], where[PC_LANES];
  NUMBER wanted[PC_LANES];
  double reduced[PC_NARROW_CLASSES * PC_LANES], scale[PC_NARROW_CLASSES * PC_LANES];
  double sum[PC_LANES] = {0}, square[PC_LANES] = {0};
  NAMED(pc_transpose)(z + first * count, PC_LANES, count, transposed);
  facts->finite &= NAMED(row_tops)(transposed, count, top);
  const double lowest = pc_lane_exp_lowest((double)count);
  for (size_t l = 0; l < PC_LANES; l++)
    where[l] = (NUMBER)count;
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const size_t at = j * PC_LANES + l;
      const double gap = (double)transposed[at] - (double)top[l];
      const NUMBER place = transposed[at] == top[l] ? (NUMBER)j : (NUMBER)count;
      double factor;
      reduced[at] = pc_lane_exp_reduce(gap < lowest ? lowest : gap, &factor);
      scale[at] = place < where[l] ? 0 : factor;
      where[l] = place < where[l] ? place : where[l];
    }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const size_t at = j * PC_LANES + l;
      const double term = pc_lane_exp_finish(reduced[at], scale[at]);
      sum[l] += term;
      square[l] += term * term;
      reduced[at] = term;
    }
  uint32_t bad = 0;
  for (size_t l = 0; l < PC_LANES; l++) {
    const uint32_t label = (uint32_t)labels[first + l];
    wanted[l] = transposed[(label < count ? label : 0) * PC_LANES + l];
    bad |= label >= count;
  }
  facts->labelled &= bad == 0;
  for (size_t l = 0; l < PC_LANES; l++) {
    facts->rest[first + l] = sum[l];
    facts->rest_square[first + l] = square[l];
    facts->gap[first + l] = (double)wanted[l] - (double)top[l];
    facts->top[first + l] = where[l] < (NUMBER)count ? (int32_t)where[l] : 0;
  }
  for (size_t j = 0; terms != NULL && j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++)
      terms[j * PC_NARROW_ROWS + first + l] =
          where[l] == (NUMBER)j ? 1.0 : reduced[j * PC_LANES + l];
}

static void NAMED(row_narrow)(const NUMBER *z, size_t count, const int32_t *labels,
                              double *terms, pc_narrow_facts *facts) {
  facts->finite = facts->labelled = 1;
  for (size_t first = 0; first < PC_NARROW_ROWS; first += PC_LANES)
    NAMED(row_lanes)(z, count, labels, first, terms, facts);
}

static void NAMED(row_column)(const NUMBER *restrict z, size_t count, double *restrict out,
                              pc_column_facts *facts) {
  double low[PC_LANES], high[PC_LANES], odd[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++) {
    low[l] = high[l] = count > 0 ? (double)z[0] : 0.0;
    odd[l] = 0.0;
  }
  const size_t whole = count / PC_LANES * PC_LANES;
  for (size_t i = 0; i < whole; i += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      const double here = (double)z[i + l];
      low[l] = here < low[l] ? here : low[l];
      high[l] = here > high[l] ? here : high[l];
      odd[l] += here - here;
      out[i + l] = here;
    }
  for (size_t i = whole, l = 0; i < count; i++, l++) {
    const double here = (double)z[i];
    low[l] = here < low[l] ? here : low[l];
    high[l] = here > high[l] ? here : high[l];
    odd[l] += here - here;
    out[i] = here;
  }
  for (size_t l = 1; l < PC_LANES; l++) {
    low[0] = low[l] < low[0] ? low[l] : low[0];
    high[0] = high[l] > high[0] ? high[l] : high[0];
    odd[0] += odd[l];
  }
  *facts = (pc_column_facts){low[0], high[0], odd[0] == 0.0};
}
