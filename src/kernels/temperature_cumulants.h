/* The end of the log score of a row at a temperature: from moments to derivatives.  Plain C for
 * temperature_kernels.c and for GPUs (device/temperature_rows_body.h). */
#ifndef PC_TEMPERATURE_CUMULANTS_H
#define PC_TEMPERATURE_CUMULANTS_H

#define PC_TEMPERATURE_GAP_MAX 1e300

/* Replaces moments 2 to 6 by cumulants, by way of central moments; m[0], the mean, is
 * unchanged. */
static inline void pc_temperature_cumulants(double m[6]) {
  const double a = m[0], a2 = a * a, a3 = a2 * a, a4 = a2 * a2;
  const double c2 = m[1] - a2, c3 = m[2] - 3.0 * a * m[1] + 2.0 * a3;
  const double c4 = m[3] - 4.0 * a * m[2] + 6.0 * a2 * m[1] - 3.0 * a4;
  const double c5 = m[4] - 5.0 * a * m[3] + 10.0 * a2 * m[2] - 10.0 * a3 * m[1] + 4.0 * a4 * a;
  const double c6 = m[5] - 6.0 * a * m[4] + 15.0 * a2 * m[3] - 20.0 * a3 * m[2] +
                    15.0 * a4 * m[1] - 5.0 * a4 * a2;
  m[1] = c2;
  m[2] = c3;
  m[3] = c4 - 3.0 * c2 * c2;
  m[4] = c5 - 10.0 * c3 * c2;
  m[5] = c6 - 15.0 * c4 * c2 - 10.0 * c3 * c3 + 30.0 * c2 * c2 * c2;
}

#endif
