/**
 * The training study: gradients against finite differences, and what balancing does to a model that is really trained.
 */
import {
  auxLossOf,
  createAdam,
  createTeacher,
  lossOf,
  routerLogits,
  type SmallMoe,
  type SmallMoeShape,
  startingMoe,
  studyMethods,
  studyOptions,
  trainUnder,
  zeroMoe,
} from '@epsim/routing';
import { randomSource } from '@epsim/spec';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const anyShape = fc.record({
  seed: fc.nat(1e6),
  width: fc.integer({ min: 1, max: 4 }),
  outWidth: fc.integer({ min: 1, max: 3 }),
  innerSize: fc.integer({ min: 1, max: 4 }),
  expertCount: fc.integer({ min: 2, max: 5 }),
  topK: fc.integer({ min: 1, max: 2 }),
  tokens: fc.integer({ min: 1, max: 5 }),
});

/** A model with every parameter away from zero, a batch, and choices that have nothing to do with the scores. */
function setUp(shape: SmallMoeShape & { seed: number; tokens: number }) {
  const { seed, expertCount, topK, tokens } = shape;
  const model = zeroMoe(shape);
  const source = randomSource(seed, 'test model');
  for (let i = 0; i < model.flat.length; i++) model.flat[i] = 0.7 * source.normal();
  const batch = createTeacher({ ...shape, kinds: 3, kindSkew: 1 }).batch('test', tokens);
  const choices = Int32Array.from(
    { length: tokens * topK },
    (_, i) => (seed + Math.floor(i / topK) + (i % topK)) % expertCount,
  );
  return { model, batch, choices };
}

function expectSlopes(model: SmallMoe, gradients: SmallMoe, loss: () => number): void {
  const step = 1e-5;
  for (let i = 0; i < model.flat.length; i++) {
    const at = model.flat[i];
    model.flat[i] = at + step;
    const above = loss();
    model.flat[i] = at - step;
    const below = loss();
    model.flat[i] = at;
    const slope = (above - below) / (2 * step);
    expect(Math.abs(gradients.flat[i] - slope)).toBeLessThan(1e-7 + 1e-6 * Math.abs(slope));
  }
}

test('every gradient of the task loss is the slope that finite differences measure', () => {
  fc.assert(
    fc.property(anyShape, (shape) => {
      const { model, batch, choices } = setUp(shape);
      const gradients = zeroMoe(shape);
      lossOf(model, batch, choices, gradients);
      expectSlopes(model, gradients, () => lossOf(model, batch, choices));
    }),
    { numRuns: 30 },
  );
});

test('every gradient of the auxiliary loss is the slope that finite differences measure', () => {
  fc.assert(
    fc.property(anyShape, (shape) => {
      const { model, batch, choices } = setUp(shape);
      const gradients = zeroMoe(shape);
      auxLossOf(model, batch, choices, 0.3, gradients);
      expectSlopes(model, gradients, () => auxLossOf(model, batch, choices, 0.3));
    }),
    { numRuns: 30 },
  );
});

test('the auxiliary loss of even choices is its coefficient, and of one favourite more', () => {
  const shape = { width: 2, outWidth: 1, innerSize: 1, expertCount: 4, topK: 1 };
  const model = zeroMoe(shape);
  const batch = createTeacher({ ...shape, seed: 1, kinds: 1, kindSkew: 0 }).batch(0, 4);
  expect(auxLossOf(model, batch, Int32Array.of(0, 1, 2, 3), 0.01)).toBeCloseTo(0.01, 12);
  // Scores in favour of expert 0 for every token, which then gets every choice.
  for (let token = 0; token < 4; token++) batch.inputs.set([1, 0], token * 2);
  model.router[0] = 3;
  expect(auxLossOf(model, batch, Int32Array.of(0, 0, 0, 0), 0.01)).toBeGreaterThan(0.012);
});

test('one token through one expert gives the network written out by hand', () => {
  const model = zeroMoe({ width: 1, outWidth: 1, innerSize: 1, expertCount: 2, topK: 2 });
  model.router.set([0, Math.log(3)]);
  model.w1.set([2, 0]);
  model.w2.set([1, 0]);
  model.b2.set([0, 5]);
  const batch = { tokens: 1, inputs: Float64Array.of(1), targets: Float64Array.of(1) };
  // Scores 1/2 and 3/4: gates 0.4 and 0.6. silu(2) = 1.761594; the other expert gives its bias.
  const prediction = 0.4 * 1.761594155955765 + 0.6 * 5;
  expect(lossOf(model, batch, Int32Array.of(0, 1))).toBeCloseTo((prediction - 1) ** 2, 10);
  const logits = new Float32Array(2);
  routerLogits(model, batch, logits);
  expect(logits[1]).toBeCloseTo(Math.log(3), 6);
});

test('the first step of Adam is the learning rate against the sign of the slope, whatever its size', () => {
  const move = createAdam(3, 0.01);
  const parameters = Float64Array.of(1, 1, 1);
  move(parameters, Float64Array.of(0.1, -100, 0));
  expect(parameters[0]).toBeCloseTo(0.99, 6);
  expect(parameters[1]).toBeCloseTo(1.01, 6);
  expect(parameters[2]).toBe(1);
});

test('the start depends on the seed alone', () => {
  const options = studyOptions.parse({});
  expect(startingMoe(options, 3).flat).toEqual(startingMoe(options, 3).flat);
  expect(startingMoe(options, 3).flat).not.toEqual(startingMoe(options, 4).flat);
});

test('all methods learn; plain top-k starves experts and quantile balancing does not', () => {
  const options = studyOptions.parse({ steps: 100, batchTokens: 192, heldOutTokens: 512 });
  const curves = studyMethods.map((method) => trainUnder(method, options));
  const [plain, aux, sign, quantile] = curves;
  const late = (values: Float64Array | Int32Array) => {
    const tail = [...values.slice(-30)];
    return tail.reduce((a, b) => a + b, 0) / tail.length;
  };
  for (const curve of curves) {
    expect(curve.loss).toHaveLength(100);
    expect(late(curve.loss)).toBeLessThan(0.6 * curve.loss[0]);
    expect(curve.heldOut.loss).toBeLessThan(0.6 * curve.loss[0]);
  }
  expect(plain.loss[0]).toBe(quantile.loss[0]);
  expect(late(plain.starvedExperts)).toBeGreaterThan(4);
  expect(late(quantile.starvedExperts)).toBeLessThan(0.5);
  expect(late(aux.maxVio)).toBeLessThan(late(plain.maxVio));
  expect(late(sign.maxVio)).toBeLessThan(late(plain.maxVio));
  expect(late(quantile.maxVio)).toBeLessThan(late(plain.maxVio) / 2);
});

test('the same seed gives the same curves, another seed others', () => {
  const options = studyOptions.parse({ steps: 5, batchTokens: 32, heldOutTokens: 32 });
  const once = trainUnder('quantile', options);
  expect(trainUnder('quantile', options)).toEqual(once);
  expect(trainUnder('quantile', { ...options, seed: 2 }).loss).not.toEqual(once.loss);
});
