# Prints golden values of one set: quantity, tab, value, tab, the function that computed it.
#
#     Rscript tools/golden_r.R SET.csv
#
# Columns of the set: score and hit of the event, top and right of the predicted class.
suppressPackageStartupMessages({
  library(pROC)
  library(splines)
})

rows <- read.csv(commandArgs(trailingOnly = TRUE)[1])
say <- function(quantity, value, source) {
  cat(quantity, formatC(value, digits = 17, format = "g"), source, sep = "\t")
  cat("\n")
}
logistic <- function(formula) {
  suppressWarnings(glm(formula, family = binomial, control = glm.control(epsilon = 1e-15, maxit = 300)))
}

area <- function(quantity, outcome, score) {
  curve <- roc(outcome, score, levels = c(0, 1), direction = "<", quiet = TRUE)
  say(quantity, as.numeric(auc(curve)), "R pROC auc")
  say(paste(quantity, "se"), sqrt(var(curve, method = "delong")), "R pROC var, DeLong")
}
if (any(rows$score != rows$top)) area("auc", rows$hit, rows$score)
area("failure-auroc", rows$right, rows$top)

# A natural spline of another basis than Harrell's has the same fitted values.
kept <- pmin(pmax(rows$score, 1e-6), 1 - 1e-6)
x <- qlogis(kept)
knots <- quantile(x, c(0.05, 0.35, 0.65, 0.95))
curve <- logistic(rows$hit ~ ns(x, knots = knots[2:3], Boundary.knots = knots[c(1, 4)]))
distance <- abs(rows$score - fitted(curve))
say("ici", mean(distance), "R glm on splines::ns")
say("e50", median(distance), "R glm on splines::ns")
say("e90", quantile(distance, 0.9), "R glm on splines::ns, quantile")
say("emax", max(distance), "R glm on splines::ns")

if (max(rows$score) < 1) {
  odds <- qlogis(rows$score)
  large <- summary(logistic(rows$hit ~ 1 + offset(odds)))$coefficients
  both <- summary(logistic(rows$hit ~ odds))$coefficients
  say("calibration-intercept", large[1, 1], "R glm with offset")
  say("calibration-intercept se", large[1, 2], "R glm with offset")
  say("calibration-slope", both[2, 1], "R glm")
  say("calibration-slope intercept", both[1, 1], "R glm")
  say("calibration-slope se", both[2, 2], "R glm")
}
