/* Reading lists of numbers from the parameters of a calibrator file. */
#ifndef PC_PARAMETER_LISTS_H
#define PC_PARAMETER_LISTS_H

#include "calibrators/calibrator.h"

/* The range of stored scores: rounding may leave them a little outside [0, 1]. */
#define PC_SCORE_LEAST (-1e-5)
#define PC_SCORE_MOST (1.0 + 1e-5)

/* A list of names that ends with NULL. */
#define PC_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Fails unless the parameters are exactly those in `names`, a list that ends with NULL. */
PC_CHECKED pcal_status pc_parameters_check_names(const pc_json_node *parameters,
                                                 const char *const *names, const char *file,
                                                 pcal_error *err);

/* Finds the parameter `name`, which must hold `count` lists. */
PC_CHECKED pcal_status pc_parameter_lists(const pc_json_node *parameters, const char *name,
                                          size_t count, const char *file,
                                          const pc_json_node **out, pcal_error *err);

typedef enum pc_list_order {
  PC_LIST_ANY,    /* in any order */
  PC_LIST_RISING, /* not falling */
  PC_LIST_STRICT, /* each above the one before */
  PC_LIST_PAIRED  /* not falling, at most two equal neighbours */
} pc_list_order;

/* Range and order of the numbers of a list. */
typedef struct pc_list_rule {
  double low, high;
  pc_list_order order;
  const char *what; /* the error: "a value of a bin must be a number from 0 to 1" */
} pc_list_rule;

/* Copies a list, whose length the caller has checked, to out. */
PC_CHECKED pcal_status pc_parameter_numbers(const pc_json_node *list, const pc_list_rule *rule,
                                            double *out, const char *file, pcal_error *err);

/* Fails with "FILE, line N: `what`", for the line of a node. */
pcal_status pc_parameter_error(const pc_json_node *node, const char *file, const char *what,
                               pcal_error *err);

#endif
