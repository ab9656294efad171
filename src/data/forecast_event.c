/* The probability that a predicted distribution gives to an event.
 *
 * Formula, for the event X > t; the others are its complement, and the cases of X = t below:
 *   normal     Phi((mean - t) / std)
 *   samples    the share of the samples that are > t
 *   quantiles  1 - F(t), F the levels at the quantiles, joined by lines (pc_forecast_cdf)
 * Edge cases:
 *   1. normal: a single number has probability 0, so that > and >= are the same event.
 *   2. samples equal to t count for >= and <= only: each event has the share of the samples in
 *      which it occurs, as verification of ensembles has it (Wilks 2019, section 8.2).
 *      Probabilities of 0 and 1 are possible, for which the log score may be infinite.
 *   3. several quantiles equal to t: F jumps there from the lowest of their levels to the highest.
 *      X <= t has the highest, X < t the lowest.
 *   4. t below all quantiles: F is half of the lowest level; above all of them, the middle of the
 *      highest level and 1.  Few quantiles thus give coarse probabilities, never 0 or 1.
 *   5. the outcome compares the target with t as numbers; a target stored as float32 is compared
 *      as stored.
 * Citation: Wilks, Statistical Methods in the Atmospheric Sciences, 4th edition, 2019.
 * Cost: O(1) for normal distributions, O(n) for n samples, O(log n) for n quantiles. */
#include "data/forecast_event.h"

#include <math.h>
#include <string.h>

#include "base/normal.h"
#include "base/number.h"
#include "data/row_check.h"

static const char *forecast_event_skip_spaces(const char *text) {
  while (*text == ' ' || *text == '\t')
    text++;
  return text;
}

pcal_status pc_forecast_event_parse(const char *text, pc_forecast_event *out, pcal_error *err) {
  const char *at = forecast_event_skip_spaces(text);
  const char sign = *at;
  *out = (pc_forecast_event){.above = sign == '>'};
  if (sign == '>' || sign == '<')
    at++;
  out->inclusive = *at == '=';
  at = forecast_event_skip_spaces(at + (out->inclusive ? 1 : 0));
  const size_t length = pc_number_parse(at, at + strlen(at), &out->limit);
  if ((sign != '>' && sign != '<') || length == 0 ||
      *forecast_event_skip_spaces(at + length) != '\0' ||
      !(fabs(out->limit) <= PC_FORECAST_MAX))
    return pc_fail(err, PCAL_USAGE,
                   "{event} \"%.40s\" is no event; write >, >=, < or <= and a number, as in "
                   "\"> 20\"",
                   text);
  return PCAL_OK;
}

int pc_forecast_event_occurs(const pc_forecast_event *event, double number) {
  return (event->inclusive && number == event->limit) ||
         (event->above ? number > event->limit : number < event->limit);
}

static double forecast_event_share(const pc_forecast_event *event, const double *samples,
                                   size_t count) {
  size_t occurs = 0;
  for (size_t j = 0; j < count; j++)
    occurs += (size_t)pc_forecast_event_occurs(event, samples[j]);
  return (double)occurs / (double)count;
}

double pc_forecast_event_prob(const pc_forecast_event *event, const pc_forecast_shape *shape,
                              double *row) {
  if (shape->form == PC_FORM_SAMPLES)
    return forecast_event_share(event, row, shape->columns);
  if (shape->form == PC_FORM_GAUSSIAN) {
    const double z = (event->limit - row[0]) / row[1];
    return pc_normal_cdf(event->above ? -z : z);
  }
  double low, high;
  row[shape->columns] = event->limit;
  pc_forecast_cdf(shape, row, &low, &high);
  if (event->above)
    return 1.0 - (event->inclusive ? low : high);
  return event->inclusive ? high : low;
}
