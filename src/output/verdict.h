/* The verdict on a set of results, as data; writers put it into words. */
#ifndef PC_VERDICT_H
#define PC_VERDICT_H

#include "base/json.h"
#include "output/write_results.h"

typedef enum pc_verdict_kind {
  PC_VERDICT_CALIBRATED, /* nothing to repair is seen */
  PC_VERDICT_OVER,       /* too sure; of class 1: probabilities too close to 0 and 1 */
  PC_VERDICT_UNDER,      /* not sure enough; of class 1: too close to one half */
  PC_VERDICT_HIGH,       /* probabilities, or predictions of a number, too high */
  PC_VERDICT_LOW,
  PC_VERDICT_UNEVEN, /* right on average, wrong in places; quantiles: at some levels */
  PC_VERDICT_NARROW, /* predicted distributions; `shift` says whether they are also off */
  PC_VERDICT_WIDE
} pc_verdict_kind;

/* "calibrated", "over-confident", ... as in JSON. */
const char *pc_verdict_kind_name(pc_verdict_kind kind);

/* Why a repair suits. */
typedef enum pc_repair {
  PC_REPAIR_NONE,   /* leave it alone */
  PC_REPAIR_GATHER, /* leave it alone, but there are too few rows to be sure */
  PC_REPAIR_SLOPE,  /* all scores too extreme or too flat: one factor on the logit scale */
  PC_REPAIR_SHIFT,  /* all scores too high or too low: an intercept */
  PC_REPAIR_LINE,   /* both */
  PC_REPAIR_SHAPE,  /* no line on the logit scale */
  PC_REPAIR_GRADED, /* nothing can be fitted to scores of 0 and 1 */
  PC_REPAIR_VARIANCE,
  PC_REPAIR_QUANTILES,
  PC_REPAIR_WIDER, /* targets lie beyond the outermost quantiles or samples */
  PC_REPAIR_OTHER  /* the method that suits has been applied already */
} pc_repair;

const char *pc_repair_name(pc_repair repair);

typedef struct pc_verdict {
  pc_verdict_kind kind;
  int shift; /* of PC_VERDICT_NARROW and PC_VERDICT_WIDE: 1 also too high, -1 too low */
  pc_form form;
  int binary;  /* one column of scores for class 1 */
  double rows; /* their weight */
  pc_repair repair;
  const char *method, *other; /* calibrators to try, or NULL */
  /* Classes. */
  double claimed, observed; /* mean score, share of hits */
  double margin;   /* 95 of 100 calibrated models have a smaller |claimed - observed| */
  double error;    /* ECE of the natural view in 15 bins */
  double chance;   /* its mean in a calibrated model: the null */
  int drawn;       /* chance is the mean over the replicas of --null */
  int off_average; /* |claimed - observed| exceeds the margin */
  struct {
    int known;
    double low, high;         /* scores */
    double share;             /* of the error */
    double rows;              /* share of all rows */
    double claimed, observed; /* there */
  } worst;
  /* Normal predictions and samples: u = F(target). */
  double mean, variance;               /* of u; 1/2 and 1/12 in a calibrated model */
  double mean_margin, variance_margin; /* what chance alone moves them by */
  /* Quantiles. */
  double outer[2];              /* lowest and highest level */
  double inside, inside_margin; /* share of targets between these quantiles */
  double level, upto;           /* the level that is most off; share of targets up to it */
  double level_margin;
} pc_verdict;

void pc_verdict_judge(const pcal_results *results, pc_verdict *out);

/* The same for predictions of a number; pc_verdict_judge calls it. */
void pc_verdict_judge_forecast(const pcal_results *results, pc_verdict *out);
/* Fills repair, method and other of a verdict on classes that is otherwise made. */
void pc_verdict_advise(const pcal_results *results, pc_verdict *out);

/* In words, each part without the end of its line: the first sentence; what it rests on; where
 * the error lies, and how much of it is chance (both empty where there is nothing to say); what
 * to try. */
void pc_verdict_headline(const pc_verdict *verdict, pc_text *out);
void pc_verdict_basis(const pc_verdict *verdict, pc_text *out);
void pc_verdict_where(const pc_verdict *verdict, pc_text *out);
void pc_verdict_chance(const pc_verdict *verdict, pc_text *out);
void pc_verdict_advice(const pc_verdict *verdict, pcal_words words, pc_text *out);
/* Every label is the same: a warning, else empty. */
void pc_verdict_warning(const pcal_results *results, pc_text *out);

/* A value of JSON: {"kind": ..., "error": ..., "chance": ..., ...}. */
void pc_verdict_json(const pc_verdict *verdict, pc_json *json);

#endif
