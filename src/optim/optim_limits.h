/* How a search for a minimum ended, and what it may spend. */
#ifndef PC_OPTIM_LIMITS_H
#define PC_OPTIM_LIMITS_H

typedef enum pc_optim_end {
  PC_OPTIM_RUNNING = 0,
  PC_OPTIM_CONVERGED,   /* the gradient vanishes */
  PC_OPTIM_AT_INFINITY, /* it vanishes, but steps stay long, or the value is at the floor: the
                       minimum lies at infinity */
  PC_OPTIM_STUCK        /* no step helps, or the limit was reached */
} pc_optim_end;

/* The gradient is measured by its largest entry, so coordinates should be of one scale. */
typedef struct pc_optim_limits {
  double aim;           /* a gradient as small as this ends the search */
  double enough;        /* so does one as small as this that does not fall by half any more */
  unsigned evaluations; /* at most, products with the Hessian included */
  double floor;         /* a value as small as this is as good as the least, at infinity */
} pc_optim_limits;

/* A step is long when it promises a share of the gradient as its gain, and moves by a share of
 * the distance from 0.  Near a minimum with curvature h the gain is g^2 / h, far less than g;
 * along exp(-x), after x steps of 1, it is g. */
#define PC_OPTIM_LONG_GAIN 0.02
#define PC_OPTIM_LONG_MOVE 0.01

#endif
