/* Rows of one type of number, for prob_row.c only: included with NUMBER float and NAMED(x)
 * x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* The lowest index of the largest, given the largest of each lane; 0 if the row has changed
 * meanwhile and no longer contains it. */
static size_t NAMED(prob_row_find)(const NUMBER *p, size_t count, const NUMBER *high,
                                   NUMBER largest) {
  size_t lowest = count;
  for (size_t l = 0; l < PROB_ROW_LANES; l++) {
    size_t j = l;
    if (high[l] != largest)
      continue;
    while (j < lowest && p[j] != largest)
      j += PROB_ROW_LANES;
    lowest = PROB_ROW_SMALLER(lowest, j);
  }
  return lowest < count ? lowest : 0;
}

/* Adds the squares of p[begin .. end - 1] to the lanes. */
static void NAMED(prob_row_squares)(const NUMBER *p, size_t begin, size_t end,
                                    double lanes[PROB_ROW_LANES]) {
  size_t j = begin;
  for (; j + PROB_ROW_LANES <= end; j += PROB_ROW_LANES)
    for (size_t l = 0; l < PROB_ROW_LANES; l++)
      lanes[l] += (double)p[j + l] * (double)p[j + l];
  for (size_t l = 0; j + l < end; l++)
    lanes[l] += (double)p[j + l] * (double)p[j + l];
}

static void NAMED(prob_row)(const NUMBER *p, size_t count, int squares,
                            pc_prob_row_facts *facts) {
  double sum[PROB_ROW_LANES] = {0.0}, square[PROB_ROW_LANES] = {0.0}, odd = 0.0;
  NUMBER low[PROB_ROW_LANES], high[PROB_ROW_LANES];
  for (size_t l = 0; l < PROB_ROW_LANES; l++) {
    low[l] = (NUMBER)INFINITY;
    high[l] = (NUMBER)-INFINITY;
  }
  size_t j = 0;
  for (; j + PROB_ROW_LANES <= count; j += PROB_ROW_LANES)
    for (size_t l = 0; l < PROB_ROW_LANES; l++) {
      low[l] = PROB_ROW_SMALLER(low[l], p[j + l]);
      high[l] = PROB_ROW_LARGER(high[l], p[j + l]);
      sum[l] += (double)p[j + l];
    }
  for (size_t l = 0; j + l < count; l++) {
    low[l] = PROB_ROW_SMALLER(low[l], p[j + l]);
    high[l] = PROB_ROW_LARGER(high[l], p[j + l]);
    sum[l] += (double)p[j + l];
  }
  NUMBER least = low[0], most = high[0];
  for (size_t l = 1; l < PROB_ROW_LANES; l++) {
    least = PROB_ROW_SMALLER(least, low[l]);
    most = PROB_ROW_LARGER(most, high[l]);
  }
  *facts = (pc_prob_row_facts){prob_row_fold(sum), (double)least, (double)most, 0, 0, 0};
  if (facts->sum - facts->sum != 0)
    for (size_t i = 0; i < count; i++)
      odd += (double)(p[i] - p[i]);
  facts->finite = odd == 0;
  if (!facts->finite)
    return;
  facts->top = NAMED(prob_row_find)(p, count, high, most);
  if (!squares)
    return;
  NAMED(prob_row_squares)(p, 0, facts->top, square);
  NAMED(prob_row_squares)(p, facts->top + 1, count, square);
  facts->rest_square = prob_row_fold(square);
}
