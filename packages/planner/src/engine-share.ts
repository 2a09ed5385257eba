/**
 * How much of a step of a published engine the modelled kernels explain.
 * One idea: what the model leaves out of prefill (casts, rotary embeddings, element-wise kernels, gaps between
 * launches) is one share, fitted to published throughputs; `validateEndToEnd` prints how well it fits, and a test
 * holds the figure to the fit.
 */

/** Fitted to published prefill throughputs of three operators; decode needs none. */
export const PREFILL_KERNEL_SHARE = 0.68;
