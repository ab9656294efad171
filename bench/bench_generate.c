/* Writes a data set: bench_generate FOLDER NAME ROWS COLUMNS.
 *
 * Normal logits z of a spread that depends on the number of classes; the label is drawn from
 * softmax(z); what is written is 2 z, so that the best temperature is near 2.  With one column:
 * z is normal with deviation 2, the label is 1 with probability 1/(1 + exp(-z)), and the score
 * written is the probability 1/(1 + exp(-1.5 z)).
 *
 * Scores are float32, labels int32, or uint8 with one column.  Every row is a function of the
 * seed, the name's first letter and its index: the same bytes on every run. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GENERATE_SEED UINT64_C(20240229)
#define GENERATE_BLOCK 4096

typedef struct generate_random {
  uint64_t state;
  double spare;
  int has_spare;
} generate_random;

/* splitmix64 */
static uint64_t generate_bits(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

/* In (0, 1). */
static double generate_uniform(generate_random *random) {
  return ((double)(generate_bits(&random->state) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller, both halves used. */
static double generate_normal(generate_random *random) {
  if (random->has_spare) {
    random->has_spare = 0;
    return random->spare;
  }
  const double radius = sqrt(-2.0 * log(generate_uniform(random)));
  const double angle = 6.283185307179586 * generate_uniform(random);
  random->spare = radius * sin(angle);
  random->has_spare = 1;
  return radius * cos(angle);
}

static generate_random generate_for_row(const char *name, uint64_t row) {
  uint64_t seed = GENERATE_SEED ^ ((uint64_t)(unsigned char)name[0] << 56);
  generate_random random = {generate_bits(&seed) + row * UINT64_C(0xD1342543DE82EF95), 0.0, 0};
  random.state = generate_bits(&random.state);
  return random;
}

static double generate_spread(size_t columns) {
  return columns <= 32 ? 2.5 : 4.0;
}

static int32_t generate_row(generate_random random, size_t columns, float *scores) {
  const double spread = generate_spread(columns);
  double total = 0.0, sum = 0.0;
  for (size_t j = 0; j < columns; j++) {
    const double z = spread * generate_normal(&random);
    scores[j] = (float)(2.0 * z);
    total += exp(z);
  }
  const double draw = generate_uniform(&random) * total;
  for (size_t j = 0; j < columns; j++) {
    sum += exp(0.5 * (double)scores[j]);
    if (sum >= draw)
      return (int32_t)j;
  }
  return (int32_t)columns - 1;
}

static int32_t generate_binary(generate_random random, float *score) {
  const double z = 2.0 * generate_normal(&random);
  *score = (float)(1.0 / (1.0 + exp(-1.5 * z)));
  return generate_uniform(&random) < 1.0 / (1.0 + exp(-z));
}

static FILE *generate_open(const char *folder, const char *name, const char *what,
                           const char *type, const char *shape) {
  char path[4096], header[128];
  snprintf(path, sizeof path, "%s/%s-%s.npy", folder, name, what);
  FILE *file = fopen(path, "wb");
  if (file == NULL)
    return NULL;
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  const int used =
      snprintf(header + 10, sizeof header - 10,
               "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
  header[10 + used] = ' ';
  header[127] = '\n';
  fwrite(header, 1, sizeof header, file);
  return file;
}

static void generate_rows(FILE *scores_file, FILE *labels_file, const char *name, uint64_t rows,
                          size_t columns, float *scores) {
  int32_t labels[GENERATE_BLOCK];
  uint8_t bytes[GENERATE_BLOCK];
  for (uint64_t first = 0; first < rows; first += GENERATE_BLOCK) {
    const size_t count =
        rows - first < GENERATE_BLOCK ? (size_t)(rows - first) : GENERATE_BLOCK;
    for (size_t i = 0; i < count; i++) {
      const generate_random random = generate_for_row(name, first + i);
      labels[i] = columns == 1 ? generate_binary(random, &scores[i])
                               : generate_row(random, columns, scores + i * columns);
      bytes[i] = (uint8_t)labels[i];
    }
    fwrite(scores, sizeof *scores * columns, count, scores_file);
    if (columns == 1)
      fwrite(bytes, 1, count, labels_file);
    else
      fwrite(labels, sizeof *labels, count, labels_file);
  }
}

static int generate_close(FILE *file) {
  if (file == NULL)
    return 1;
  const int failed = ferror(file);
  return fclose(file) != 0 || failed;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s FOLDER NAME ROWS COLUMNS\n", argv[0]);
    return 2;
  }
  const uint64_t rows = strtoull(argv[3], NULL, 10);
  const size_t columns = (size_t)strtoull(argv[4], NULL, 10);
  float *scores = malloc(GENERATE_BLOCK * columns * sizeof *scores);
  char shape[64], length[32];
  snprintf(length, sizeof length, "%llu,", (unsigned long long)rows);
  snprintf(shape, sizeof shape, "%s %zu", length, columns);
  FILE *scores_file =
      generate_open(argv[1], argv[2], "scores", "<f4", columns == 1 ? length : shape);
  FILE *labels_file =
      generate_open(argv[1], argv[2], "labels", columns == 1 ? "|u1" : "<i4", length);
  if (scores != NULL && scores_file != NULL && labels_file != NULL)
    generate_rows(scores_file, labels_file, argv[2], rows, columns, scores);
  const int failed =
      scores == NULL || (generate_close(scores_file) | generate_close(labels_file));
  free(scores);
  if (failed)
    fprintf(stderr, "%s: the data set %s could not be written in %s\n", argv[0], argv[2],
            argv[1]);
  return failed;
}
