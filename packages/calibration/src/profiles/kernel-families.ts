/**
 * The kernels of @epsim/model that experts run on, by what tables call them. The first that fits is taken.
 */
import { type KernelName, type KernelTemplate, kernelTemplates } from '@epsim/model';

export interface KernelFamily {
  readonly name: KernelName;
  readonly template: KernelTemplate;
  /** True for the kernel and number formats that a table names. */
  matches(kernel: string, dtype: string): boolean;
}

function family(name: KernelName, kernels: RegExp, formats: string): KernelFamily {
  return {
    name,
    template: kernelTemplates[name],
    matches: (kernel, dtype) => kernels.test(kernel) && dtype.startsWith(formats),
  };
}

export const kernelFamilies: readonly KernelFamily[] = [
  family('trtllm-w4a8', /trtllm/, 'w4a8'),
  family('trtllm-w4a16', /trtllm/, 'w4a16'),
  family('sglang-marlin-w4a16', /^sglang_marlin/, 'w4a16'),
  // With the plain activation ran a build that picks its tile by the rows of its own experts.
  family('marlin-own-w4a16', /marlinexperts$/, 'w4a16'),
  family('marlin-w4a16', /marlin/, 'w4a16'),
];
