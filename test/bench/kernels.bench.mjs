// The carried kernel against plain loops on the same matrices.
import { createKernel, createMemory, gemmNaive, packBf16, packedBytes, weightAt } from '@epsim/tensor';

const [m, k, n] = [64, 3584, 64];
const memory = createMemory(64 * 2 ** 20, { shared: true });
const kernel = createKernel(memory);
const a = new Float32Array(memory.buffer, 0, m * k);
const b = Float32Array.from({ length: k * n }, (_, i) => weightAt(2, i));
for (let i = 0; i < a.length; i++) a[i] = weightAt(1, i);
const bAt = 16 * 2 ** 20;
const cAt = 32 * 2 ** 20;
packBf16(b, k, n, new Uint16Array(memory.buffer, bAt, packedBytes('bf16', k, n) / 2));
const out = new Float32Array(m * n);

export const benchmarks = [
  {
    name: `gemm ${m} x ${k} x ${n}`,
    baseline: { name: 'plain loops', work: () => gemmNaive(a, b, out, { m, k, n }) },
    subject: {
      name: 'SIMD kernel, BF16 weights',
      work: () => kernel.gemmBf16({ a: 0, b: bAt, c: cAt, m, k, n }),
    },
    runs: 9,
  },
];
