/**
 * The error bar of a planned throughput: the median error against published ones when the rows of a source are
 * left out of the fit, a fraction. `validateEndToEnd` computes it, and a test holds this figure to it.
 */
export const END_TO_END_ERROR = 0.1;
