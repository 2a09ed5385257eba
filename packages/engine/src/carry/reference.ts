/**
 * The same layer computed in one process from routing alone: no ranks, slots, plans or rows that travel.
 * It shares sizes, seeds and the tensor package with the distributed run, and nothing else.
 */
import type { Routing } from '@epsim/spec';
import { Arena, createKernel, createMemory, packedBytes, weightsInto } from '@epsim/tensor';
import { type CarriedMatrix, type CarriedModel, carriedMatrix, hiddenSeed } from './carried-model.js';

export interface Reference {
  /** Output of the layer for every token of `routing`, [tokens x hiddenSize]; valid until the next call. */
  layer(routing: Routing, step: number, layer: number): Float32Array;
}

/** A reference for layers of at most `tokenCount` tokens. */
export function createReference(model: CarriedModel, tokenCount: number): Reference {
  const { hiddenSize, expertWidth: width, innerSize, sharedInnerSize } = model;
  const widest = Math.max(innerSize, sharedInnerSize);
  const packed = (k: number, n: number) => packedBytes('bf16', k, n);
  const inBytes = Math.max(
    packed(hiddenSize, width),
    packed(hiddenSize, 2 * sharedInnerSize),
    packed(width, 2 * innerSize),
  );
  const outBytes = packed(widest, Math.max(hiddenSize, width));
  const floats = tokenCount * (3 * hiddenSize + 3 * width + 3 * widest) + width;
  const memory = createMemory(inBytes + outBytes + floats * 4 + 4096, { shared: false });
  const kernel = createKernel(memory);
  const arena = new Arena(memory);
  const view = (at: number, length: number) => new Float32Array(memory.buffer, at, length);
  const weights = arena.alloc(inBytes);
  const outWeights = arena.alloc(outBytes);
  const x = arena.alloc(tokenCount * hiddenSize * 4);
  const y = arena.alloc(tokenCount * hiddenSize * 4);
  const z = arena.alloc(tokenCount * width * 4);
  const gathered = arena.alloc(tokenCount * width * 4);
  const branchRows = arena.alloc(tokenCount * 2 * widest * 4);
  const innerRows = arena.alloc(tokenCount * widest * 4);
  const result = arena.alloc(tokenCount * hiddenSize * 4);
  const gain = arena.f32(width).fill(1).byteOffset;

  const fill = (at: number, m: CarriedMatrix) =>
    kernel.fillWeightsBf16(at, m.fanIn, m.fanOut, m.seed, m.scale);
  const ffn = (input: number, rows: number, inM: CarriedMatrix, outM: CarriedMatrix, inner: number) => {
    fill(weights, inM);
    fill(outWeights, outM);
    kernel.gemmBf16({ a: input, b: weights, c: branchRows, m: rows, k: inM.fanIn, n: inM.fanOut });
    const branches = { gate: branchRows, up: branchRows + inner * 4, out: innerRows };
    kernel.glu(model.glu, { ...branches, rows, width: inner, inStride: 2 * inner });
    kernel.gemmBf16({ a: innerRows, b: outWeights, c: result, m: rows, k: outM.fanIn, n: outM.fanOut });
  };

  return {
    layer(routing, step, layer) {
      const tokens = routing.tokenOffsets[routing.tokenOffsets.length - 1];
      if (tokens > tokenCount) throw new RangeError(`reference for ${tokenCount} tokens asked for ${tokens}`);
      for (let rank = 0; rank + 1 < routing.tokenOffsets.length; rank++) {
        const seed = hiddenSeed(model, step, layer, rank);
        const first = routing.tokenOffsets[rank] * hiddenSize;
        const count = (routing.tokenOffsets[rank + 1] - routing.tokenOffsets[rank]) * hiddenSize;
        weightsInto(view(x + first * 4, count), seed, 0);
      }
      const down = carriedMatrix(model, 'down', layer);
      if (model.latent) {
        fill(weights, down);
        kernel.gemmBf16({ a: x, b: weights, c: z, m: tokens, k: hiddenSize, n: width });
      } else {
        view(z, tokens * width).set(view(x, tokens * width));
      }
      const latents = new Float32Array(tokens * width);
      for (let expert = 0; expert < model.expertCount; expert++) {
        addExpert(expert, layer, routing, tokens, latents);
      }
      view(z, tokens * width).set(latents);
      if (model.latent) {
        if (model.latentNorm) kernel.rmsNorm(z, gain, z, tokens, width, 1e-5);
        fill(weights, carriedMatrix(model, 'up', layer));
        kernel.gemmBf16({ a: z, b: weights, c: y, m: tokens, k: width, n: hiddenSize });
      } else {
        view(y, tokens * width).set(latents);
      }
      if (sharedInnerSize > 0) {
        const sharedIn = carriedMatrix(model, 'sharedIn', layer);
        ffn(x, tokens, sharedIn, carriedMatrix(model, 'sharedOut', layer), sharedInnerSize);
        kernel.axpy(y, result, tokens * hiddenSize, 1);
      }
      return view(y, tokens * hiddenSize);
    },
  };

  /** Adds one expert's weighted output to the latents of every token that chose it. */
  function addExpert(
    expert: number,
    layer: number,
    routing: Routing,
    tokens: number,
    latents: Float32Array,
  ): void {
    const chosen: number[] = [];
    for (let i = 0; i < tokens * routing.width; i++) if (routing.experts[i] === expert) chosen.push(i);
    if (chosen.length === 0) return;
    chosen.forEach((choice, row) => {
      const from = Math.floor(choice / routing.width) * width;
      view(gathered + row * width * 4, width).set(view(z + from * 4, width));
    });
    const inM = carriedMatrix(model, 'expertIn', layer, expert);
    ffn(gathered, chosen.length, inM, carriedMatrix(model, 'expertOut', layer, expert), innerSize);
    chosen.forEach((choice, row) => {
      const out = view(result + row * width * 4, width);
      const to = Math.floor(choice / routing.width) * width;
      const weight = routing.weights[choice];
      for (let j = 0; j < width; j++) latents[to + j] += weight * out[j];
    });
  }
}
