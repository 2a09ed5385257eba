/**
 * The same layer computed in one process from routing alone: no ranks, slots, plans or rows that travel.
 * It shares sizes, seeds and the tensor package with the distributed run, and nothing else.
 */
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { Routing } from '@epsim/spec';
import { Arena, createKernel, createMemory, packedBytes, weightsInto } from '@epsim/tensor';
import { type CarriedMatrix, type CarriedModel, carriedMatrix, hiddenSeed } from './carried-model.js';

/** Longest time without a turn of the event loop: signals, and those who wait for a sign of life, wait for it. */
const TURN_MS = 50;

export interface Reference {
  /** Output of the layer for every token of `routing`, [tokens x hiddenSize]; valid until the next call. */
  layer(routing: Routing, step: number, layer: number): Promise<Float32Array>;
}

/** A reference for layers of at most `tokenCount` tokens. */
export function createReference(model: CarriedModel, tokenCount: number): Reference {
  const { hiddenSize, expertWidth: width, sharedInnerSize } = model;
  const { memory, kernel, at } = referenceMemory(model, tokenCount);
  const view = (start: number, length: number) => new Float32Array(memory.buffer, start, length);

  return {
    async layer(routing, step, layer) {
      const tokens = routing.tokenOffsets[routing.tokenOffsets.length - 1];
      if (tokens > tokenCount) throw new RangeError(`reference for ${tokenCount} tokens asked for ${tokens}`);
      writeHidden(routing, step, layer);
      if (model.latent) project(at.hidden, carriedMatrix(model, 'down', layer), at.latent, tokens);
      else view(at.latent, tokens * width).set(view(at.hidden, tokens * width));
      const sum = new Float32Array(tokens * width);
      let turned = performance.now();
      for (let expert = 0; expert < model.expertCount; expert++) {
        addExpert(expert, layer, routing, sum);
        if (performance.now() - turned < TURN_MS) continue;
        await eventLoopTurn();
        turned = performance.now();
      }
      view(model.latent ? at.latent : at.output, tokens * width).set(sum);
      if (model.latent) {
        if (model.latentNorm) kernel.rmsNorm(at.latent, at.gain, at.latent, tokens, width, 1e-5);
        project(at.latent, carriedMatrix(model, 'up', layer), at.output, tokens);
      }
      if (sharedInnerSize > 0) {
        const [sharedIn, sharedOut] = [
          carriedMatrix(model, 'sharedIn', layer),
          carriedMatrix(model, 'sharedOut', layer),
        ];
        feedForward(at.hidden, tokens, sharedIn, sharedOut);
        kernel.axpy(at.output, at.result, tokens * hiddenSize, 1);
      }
      return view(at.output, tokens * hiddenSize);
    },
  };

  function writeHidden(routing: Routing, step: number, layer: number): void {
    for (let rank = 0; rank + 1 < routing.tokenOffsets.length; rank++) {
      const first = routing.tokenOffsets[rank] * hiddenSize;
      const count = (routing.tokenOffsets[rank + 1] - routing.tokenOffsets[rank]) * hiddenSize;
      weightsInto(view(at.hidden + first * 4, count), hiddenSeed(model, step, layer, rank), 0);
    }
  }

  function fill(start: number, m: CarriedMatrix): void {
    kernel.fillWeightsBf16(start, m.fanIn, m.fanOut, m.seed, m.scale);
  }

  /** rows x matrix, written to `out`. */
  function project(rows: number, matrix: CarriedMatrix, out: number, count: number): void {
    fill(at.weights, matrix);
    kernel.gemmBf16({ a: rows, b: at.weights, c: out, m: count, k: matrix.fanIn, n: matrix.fanOut });
  }

  /** A gated feed-forward network over `count` rows, written to `at.result`. */
  function feedForward(rows: number, count: number, inM: CarriedMatrix, outM: CarriedMatrix): void {
    const inner = outM.fanIn;
    project(rows, inM, at.branches, count);
    const branches = { gate: at.branches, up: at.branches + inner * 4, out: at.inner };
    kernel.glu(model.glu, { ...branches, rows: count, width: inner, inStride: 2 * inner });
    project(at.inner, outM, at.result, count);
  }

  /** Adds one expert's weighted output to `sum`, [tokens x expertWidth], for every token that chose it. */
  function addExpert(expert: number, layer: number, routing: Routing, sum: Float32Array): void {
    const chosen: number[] = [];
    const choices = (sum.length / width) * routing.width;
    for (let i = 0; i < choices; i++) if (routing.experts[i] === expert) chosen.push(i);
    if (chosen.length === 0) return;
    chosen.forEach((choice, row) => {
      const from = Math.floor(choice / routing.width) * width;
      view(at.gathered + row * width * 4, width).set(view(at.latent + from * 4, width));
    });
    const inM = carriedMatrix(model, 'expertIn', layer, expert);
    feedForward(at.gathered, chosen.length, inM, carriedMatrix(model, 'expertOut', layer, expert));
    chosen.forEach((choice, row) => {
      const out = view(at.result + row * width * 4, width);
      const to = Math.floor(choice / routing.width) * width;
      const weight = routing.weights[choice];
      for (let j = 0; j < width; j++) sum[to + j] += weight * out[j];
    });
  }
}

/** One matrix at a time and the rows of all tokens at each stage: a kernel and where each of them starts. */
function referenceMemory(model: CarriedModel, tokenCount: number) {
  const { hiddenSize, expertWidth: width, innerSize, sharedInnerSize } = model;
  const widest = Math.max(innerSize, sharedInnerSize);
  const packed = (k: number, n: number) => packedBytes('bf16', k, n);
  const weightBytes = Math.max(
    packed(hiddenSize, width),
    packed(width, hiddenSize),
    packed(hiddenSize, 2 * sharedInnerSize),
    packed(width, 2 * innerSize),
    packed(widest, Math.max(hiddenSize, width)),
  );
  const floats = tokenCount * (3 * hiddenSize + 3 * width + 3 * widest) + width;
  const memory = createMemory(weightBytes + floats * 4 + 4096, { shared: false });
  const arena = new Arena(memory);
  const rows = (rowWidth: number) => arena.alloc(tokenCount * rowWidth * 4);
  const at = {
    weights: arena.alloc(weightBytes),
    hidden: rows(hiddenSize),
    output: rows(hiddenSize),
    latent: rows(width),
    gathered: rows(width),
    branches: rows(2 * widest),
    inner: rows(widest),
    result: rows(Math.max(hiddenSize, width)),
    gain: arena.f32(width).fill(1).byteOffset,
  };
  return { memory, kernel: createKernel(memory), at };
}
