/**
 * How much of a step of a published engine the modelled kernels explain.
 * One idea: what the model leaves out (casts, rotary embeddings, element-wise kernels, gaps between launches) is one
 * share for each phase, fitted to published throughputs; `validateEndToEnd` prints how well it fits, and a test holds
 * the figures to the fit.
 */

/** Prefill is fitted to three operators, decode to two: for each the median of their medians. */
export const KERNEL_SHARE = { prefill: 0.69, decode: 0.91 } as const;
