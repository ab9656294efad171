/* Rows of one type of scores, for temperature_kernels.c only: included with NUMBER float and
 * NAMED(x) x_f32, and with NUMBER double and NAMED(x) x_f64. */

/* The score at index `gone`, if below count, gets the term 0. */
static void NAMED(temperature_fill)(const NUMBER *restrict z, size_t count, size_t gone,
                                    double max, double scale, temperature_tile *restrict out) {
  const double lowest = pc_lane_exp2_lowest(scale);
  for (size_t i = 0; i < count; i++) {
    const double y = ((double)z[i] - max) * scale;
    out->power[i] = y < lowest ? lowest : y;
  }
  for (out->whole = count; out->whole % PC_LANES != 0; out->whole++)
    out->power[out->whole] = TEMPERATURE_NOTHING;
  if (gone < count)
    out->power[gone] = TEMPERATURE_NOTHING;
}

/* Sums of the terms of a row without the score at `top`, folded.  If top >= count, each lane is
 * a row of its own, and lanes are not folded. */
static void NAMED(temperature_sum)(pc_temperature_score score, const NUMBER *scores,
                                   size_t count, size_t top, double max, double scale,
                                   temperature_lanes *lanes) {
  temperature_tile tile;
  if (score != PC_TEMPERATURE_BRIER) {
    NAMED(temperature_log)(score, scores, count, top, max, scale, lanes);
    return;
  }
  memset(lanes, 0, sizeof *lanes);
  for (size_t begin = 0; begin < count; begin += TEMPERATURE_TILE) {
    const size_t left = count - begin, here = left < TEMPERATURE_TILE ? left : TEMPERATURE_TILE;
    NAMED(temperature_fill)(scores + begin, here, top - begin, max, scale, &tile);
    temperature_exponentiate(&tile);
    temperature_add_squares(&tile, lanes);
  }
  if (top < count)
    temperature_fold_all(lanes);
}

/* Puts a narrow row into its lane; the largest score gets the term 0. */
static void NAMED(temperature_wait)(const NUMBER *scores, size_t top, double max,
                                    pc_temperature_block *block) {
  double *lane = block->lanes + block->count % PC_LANES;
  for (size_t j = 0; j < block->classes; j++)
    lane[j * PC_LANES] = (double)scores[j] - max;
  lane[top * PC_LANES] = -INFINITY;
}

static void NAMED(temperature_add)(pc_temperature_score score, const NUMBER *scores,
                                   size_t count, size_t top, size_t label, double beta,
                                   pc_temperature_block *block) {
  const double max = (double)scores[top], scale = beta * PC_LANE_LOG2_E;
  temperature_lanes lanes;
  block->classes = count;
  if (count <= PC_NARROW_CLASSES) {
    NAMED(temperature_wait)(scores, top, max, block);
    block->gap[block->count++] = (double)scores[label] - max;
    if (block->count % PC_LANES == 0)
      temperature_take_lanes(score, beta, block);
    return;
  }
  NAMED(temperature_sum)(score, scores, count, top, max, scale, &lanes);
  temperature_push(score, &lanes, (double)scores[label] - max, block);
}

/* The largest score; *finite is 0 if a score is not finite or the sum overflows. */
static NUMBER NAMED(temperature_max)(const NUMBER *scores, size_t count, int *finite) {
  NUMBER most[PC_LANES], sum[PC_LANES] = {0};
  for (size_t l = 0; l < PC_LANES; l++)
    most[l] = scores[0];
  size_t j = 0;
  for (; j + PC_LANES <= count; j += PC_LANES)
    for (size_t l = 0; l < PC_LANES; l++) {
      most[l] = scores[j + l] > most[l] ? scores[j + l] : most[l];
      sum[l] += scores[j + l];
    }
  for (; j < count; j++) {
    most[0] = scores[j] > most[0] ? scores[j] : most[0];
    sum[0] += scores[j];
  }
  for (size_t l = 1; l < PC_LANES; l++) {
    most[0] = most[l] > most[0] ? most[l] : most[0];
    sum[0] += sum[l];
  }
  *finite = sum[0] - sum[0] == 0;
  return most[0];
}

/* Fills out, which may be scores, with the terms of a row; returns their sum. */
static double NAMED(temperature_terms)(const NUMBER *scores, size_t count, double max,
                                       double beta, double *out) {
  const double lowest = pc_lane_exp_lowest(beta);
  double sum[PC_LANES] = {0.0}, reduced[TEMPERATURE_TILE], scale[TEMPERATURE_TILE];
  for (size_t begin = 0; begin < count; begin += TEMPERATURE_TILE) {
    const size_t left = count - begin, here = left < TEMPERATURE_TILE ? left : TEMPERATURE_TILE;
    size_t whole = here;
    for (size_t i = 0; i < here; i++) {
      const double x = beta * ((double)scores[begin + i] - max);
      reduced[i] = pc_lane_exp_reduce(x < lowest ? lowest : x, &scale[i]);
    }
    for (; whole % PC_LANES != 0; whole++)
      reduced[whole] = scale[whole] = 0.0;
    for (size_t j = 0; j < whole; j += PC_LANES)
      for (size_t l = 0; l < PC_LANES; l++) {
        reduced[j + l] = pc_lane_exp_finish(reduced[j + l], scale[j + l]);
        sum[l] += reduced[j + l];
      }
    memcpy(out + begin, reduced, here * sizeof *out);
  }
  return temperature_fold(sum);
}

/* PC_LANES rows of at most PC_NARROW_CLASSES scores, one in each lane.  Returns 0 if a score is
 * not finite or a sum overflows. */
static int NAMED(temperature_narrow)(const NUMBER *scores, size_t count, double beta,
                                     NUMBER *out) {
  double term[PC_NARROW_CLASSES * PC_LANES], scale[PC_NARROW_CLASSES * PC_LANES];
  NUMBER transposed[PC_NARROW_CLASSES * PC_LANES], max[PC_LANES], all[PC_LANES] = {0};
  double sum[PC_LANES] = {0.0};
  const double lowest = pc_lane_exp_lowest(beta);
  NAMED(pc_transpose)(scores, PC_LANES, count, transposed);
  for (size_t l = 0; l < PC_LANES; l++)
    max[l] = (NUMBER)-INFINITY;
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      max[l] = transposed[j * PC_LANES + l] > max[l] ? transposed[j * PC_LANES + l] : max[l];
      all[l] += transposed[j * PC_LANES + l];
    }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const size_t at = j * PC_LANES + l;
      const double x = beta * ((double)transposed[at] - (double)max[l]);
      term[at] = pc_lane_exp_reduce(x < lowest ? lowest : x, &scale[at]);
    }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      const size_t at = j * PC_LANES + l;
      term[at] = pc_lane_exp_finish(term[at], scale[at]);
      sum[l] += term[at];
    }
  for (size_t l = 0; l < PC_LANES; l++)
    sum[l] = 1.0 / sum[l];
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++)
      transposed[j * PC_LANES + l] = (NUMBER)(term[j * PC_LANES + l] * sum[l]);
  NAMED(pc_transpose)(transposed, count, PC_LANES, out);
  NUMBER odd = 0;
  for (size_t l = 0; l < PC_LANES; l++)
    odd += all[l] - all[l];
  return odd == 0;
}

/* If fewer narrow rows than lanes are left, the first of them fills the empty lanes. */
static int NAMED(temperature_softmax)(const NUMBER *scores, size_t rows, size_t count,
                                      double beta, NUMBER *out) {
  int good = 1;
  if (count > PC_NARROW_CLASSES) {
    for (size_t i = 0; i < rows && good; i++)
      good = NAMED(temperature_wide)(scores + i * count, count, beta, out + i * count);
    return good;
  }
  const size_t whole = rows / PC_LANES * PC_LANES;
  for (size_t i = 0; i < whole; i += PC_LANES)
    good &= NAMED(temperature_narrow)(scores + i * count, count, beta, out + i * count);
  if (whole == rows)
    return good;
  NUMBER block[PC_NARROW_CLASSES * PC_LANES];
  memcpy(block, scores + whole * count, (rows - whole) * count * sizeof *block);
  for (size_t l = rows - whole; l < PC_LANES; l++)
    memcpy(block + l * count, scores + whole * count, count * sizeof *block);
  good &= NAMED(temperature_narrow)(block, count, beta, block);
  memcpy(out + whole * count, block, (rows - whole) * count * sizeof *out);
  return good;
}
