/* Limits of a search for a minimum, and why it ended. */
#ifndef PC_OPTIM_LIMITS_H
#define PC_OPTIM_LIMITS_H

typedef enum pc_optim_end {
  PC_OPTIM_RUNNING = 0,
  PC_OPTIM_CONVERGED,   /* the gradient is small enough */
  PC_OPTIM_AT_INFINITY, /* the gradient is small enough, but steps stay long or the value is at
                           the floor: the minimum is at infinity */
  PC_OPTIM_STUCK        /* no step decreases the value, or the limit was reached */
} pc_optim_end;

/* The gradient is measured by its largest entry, so coordinates should have similar scales. */
typedef struct pc_optim_limits {
  double gradient_target; /* stop if the gradient is at most this, */
  double gradient_enough; /* or at most this and it no longer halves from step to step */
  unsigned evaluations;   /* most evaluations, counting products with the Hessian */
  double value_floor;     /* stop if the value is at most this */
} pc_optim_limits;

/* A step is long if its predicted gain exceeds LONG_GAIN times the gradient and its length
 * LONG_MOVE times the distance from 0.  Near a minimum with curvature h the gain is g^2 / h,
 * far less than the gradient g; along exp(-x) it is g. */
#define PC_OPTIM_LONG_GAIN 0.02
#define PC_OPTIM_LONG_MOVE 0.01

#endif
