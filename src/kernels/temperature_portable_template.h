/* Sums over the scores of one type, for temperature_portable.h only: included with NUMBER float and
 * NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* Reads a block; the score at `top` and padding have d = -inf.  `least` ignores -inf. */
static void NAMED(portable_read)(const NUMBER *scores, size_t count, size_t top, size_t block,
                                 double max, double *restrict out, double *restrict least) {
  const size_t begin = block * PC_LANES;
  NUMBER copy[PC_LANES];
  const NUMBER *from = scores + begin;
  if (begin + PC_LANES > count || block == top / PC_LANES) {
    for (size_t l = 0; l < PC_LANES; l++)
      copy[l] = begin + l < count && begin + l != top ? from[l] : (NUMBER)-INFINITY;
    from = copy;
  }
  for (size_t l = 0; l < PC_LANES; l++) {
    const double d = (double)from[l] - max, low = d == -INFINITY ? 0.0 : d;
    least[l] = low < least[l] ? low : least[l];
    out[l] = d;
  }
}

/* Sums of the terms of a row, of those for beta = 1 where asked for, and of their moments, into
 * the first lane; without a top, each lane is a row of its own. */
static void NAMED(portable_sum)(const NUMBER *scores, size_t count, size_t top, double max,
                                double scale, int with_one, portable_sums *sums) {
  const size_t blocks = (count + PC_LANES - 1) / PC_LANES;
  const size_t lanes = top < count ? PORTABLE_HALF : PC_LANES;
  const double lowest = EXP2_LOWEST / fmin(scale, PC_LANE_LOG2_E);
  portable_tile tile;
  size_t filled = 0;
  memset(sums, 0, sizeof *sums);
  memset(tile.least, 0, sizeof tile.least);
  for (size_t i = 0; i < blocks; i++) {
    NAMED(portable_read)
    (scores, count, top, portable_block(i, count, top), max, tile.d + filled, tile.least);
    filled += PC_LANES;
    if (filled == PORTABLE_TILE || i + 1 == blocks) {
      portable_begin(&tile, filled, lowest);
      portable_take(&tile, filled, lanes, scale, with_one, sums);
      filled = 0;
    }
  }
  portable_finish(sums, lanes, scale);
}
