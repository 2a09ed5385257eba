import { kernelBytes } from '@epsim/tensor';
import { kernelText } from '@epsim/tensor/wat';
import { expect, test } from 'vitest';
import wabt from 'wabt';

test.each([true, false])(
  'the checked-in bytes are what the text assembles to (shared: %s)',
  async (shared) => {
    const features = { simd: true, threads: true };
    const module = (await wabt()).parseWat('kernel.wat', kernelText(shared), features);
    module.resolveNames();
    const { buffer } = module.toBinary({});
    expect(Buffer.from(kernelBytes(shared)).equals(Buffer.from(buffer))).toBe(true);
  },
);
