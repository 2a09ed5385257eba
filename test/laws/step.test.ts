/**
 * The laws of a step, over every name that a scenario can hold: whatever routes, places, dispatches, connects and
 * overlaps, choices and bytes are counted once, time goes forward, and the same seed gives the same records.
 */
import { catalog, choicesPerRank, dispatchOptions, planDispatch, Simulation } from '@epsim/engine';
import { parseScenario, type Scenario, type StepRecord } from '@epsim/spec';
import { rowBytes } from '@epsim/tensor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { somePlacement, someRouting } from '../support/routings.js';

/** `recorded` needs a file of choices, which the tests of the workloads give it. */
const routingNames = Object.keys(catalog.routing).filter((name) => name !== 'recorded');
const name = (registry: keyof typeof catalog) => fc.constantFrom(...Object.keys(catalog[registry]));
const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
const runs = { numRuns: 60 };
const EXPERTS = 24;
const TOP_K = 4;

/** What a torus must be told: the ranks along each ring of a domain. */
const dims = (topology: string, domainRanks: number) => {
  if (topology === 'torus-2d') return { dims: [domainRanks, 1] };
  return topology === 'torus-3d' ? { dims: [domainRanks, 1, 1] } : {};
};

/** A scenario as it would be written, small enough to read when a law breaks. */
const anyDocument = () =>
  fc
    .record({
      seed: fc.nat(),
      ranks: fc.constantFrom(2, 4, 8),
      domainRanks: fc.constantFrom(1, 2, 4),
      tokensPerRank: fc.integer({ min: 1, max: 24 }),
      routing: fc.record({
        policy: fc.constantFrom(...routingNames),
        baseline: fc.constantFrom(null, 'top-k'),
      }),
      placement: fc.record({
        policy: name('placement'),
        spareSlots: fc.integer({ min: 0, max: 2 }),
        everySteps: fc.integer({ min: 0, max: 2 }),
        move: fc.constantFrom('blocking', 'background'),
      }),
      dispatch: fc.record({
        kind: fc.constantFrom('per-expert', 'per-rank', 'per-node'),
        replica: fc.constantFrom('round-robin', 'nearest'),
        dispatchFormat: fc.constantFrom('fp8', 'bf16', 'mxfp4'),
        combineFormat: fc.constantFrom('bf16', 'fp32'),
      }),
      time: fc.record({
        network: name('networkModels'),
        overlap: name('overlaps'),
        exchange: name('exchanges'),
      }),
      topology: name('topology'),
    })
    .map(({ seed, ranks, tokensPerRank, routing, dispatch, time, topology, ...drawn }) => {
      const { spareSlots, ...placement } = drawn.placement;
      const domainRanks = topology === 'nvlink-domain' ? ranks : Math.min(drawn.domainRanks, ranks);
      return {
        name: 'law',
        seed,
        layers: 2,
        steps: 3,
        model: { preset: 'kimi-k3', expertCount: EXPERTS, topK: TOP_K },
        cluster: {
          preset: 'h800-nodes',
          ranks,
          domainRanks,
          topology: { kind: topology, ...dims(topology, domainRanks) },
        },
        workload: { kind: 'synthetic', tokensPerRank },
        routing,
        placement: { ...placement, slotsPerRank: EXPERTS / ranks + spareSlots },
        dispatch,
        time,
      };
    });

const read = (document: object): Scenario =>
  parseScenario(JSON.stringify(document), { file: 'law.yaml', catalog });

async function recordsOf(simulation: Simulation): Promise<StepRecord[]> {
  const records: StepRecord[] = [];
  for await (const record of simulation.records()) records.push(record);
  return records;
}

describe('every step of every scenario', () => {
  test('makes or drops each of its choices, and each is computed on one rank (law 1)', async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument(), async (document) => {
        const scenario = read(document);
        for (const record of await recordsOf(new Simulation(scenario, { timed: false }))) {
          const { rankCount } = scenario.cluster;
          expect(record.tokens).toBe(rankCount * scenario.workload.tokensPerRank);
          expect(sum(record.expertLoad) + record.routing.droppedChoices).toBe(record.tokens * TOP_K);
          expect(sum(record.rankLoad)).toBe(sum(record.expertLoad));
          expect(record.rankLoad).toHaveLength(rankCount);
        }
      }),
      runs,
    );
  });

  test('splits its bytes into those that stay, those within and those between domains (law 2)', async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument(), async (document) => {
        const scenario = read(document);
        const { dispatchFormat, combineFormat } = scenario.dispatch;
        const { expertWidth } = scenario.model.moe;
        for (const { bytes } of await recordsOf(new Simulation(scenario, { timed: false }))) {
          expect(bytes.local + bytes.scaleUp + bytes.scaleOut).toBe(bytes.dispatch + bytes.combine);
          expect(bytes.combine / rowBytes(combineFormat, expertWidth)).toBe(
            bytes.dispatch / rowBytes(dispatchFormat, expertWidth),
          );
          expect(bytes.byLinkMax.bytes).toBeLessThanOrEqual(bytes.scaleUp + bytes.scaleOut);
        }
      }),
      runs,
    );
  });

  test('takes no less time than its slowest phase, and no more than one thing after another (law 5)', async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument(), async (document) => {
        const scenario = read(document);
        for (const { timed, move } of await recordsOf(new Simulation(scenario))) {
          const { stepNs, phases, stragglerIdleFraction } = timed!;
          const times = Object.values(phases).map(({ ns }) => ns);
          for (const ns of times) expect(ns).toBeGreaterThanOrEqual(0);
          expect(Number.isFinite(stepNs)).toBe(true);
          expect(stepNs).toBeGreaterThanOrEqual(Math.max(...times) * (1 - 1e-9));
          expect(stepNs).toBeLessThanOrEqual(sum(times) * (1 + 1e-9));
          expect(stragglerIdleFraction).toBeGreaterThanOrEqual(0);
          expect(stragglerIdleFraction).toBeLessThanOrEqual(1);
          expect(move.ns).toBeGreaterThanOrEqual(0);
        }
      }),
      runs,
    );
  });

  test('is the same record when it runs again from the same seed (law 6)', async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument(), async (document) => {
        const scenario = read(document);
        expect(await recordsOf(new Simulation(scenario))).toEqual(await recordsOf(new Simulation(scenario)));
      }),
      runs,
    );
  });
});

describe('the bytes of a dispatch plan on a network', () => {
  test('are those of every link on their paths, and leave as many as arrive (law 2)', () => {
    fc.assert(
      fc.property(anyDocument(), fc.boolean(), (document, holes) => {
        const scenario = read(document);
        const { cluster, seed, workload } = scenario;
        const { rankCount } = cluster;
        const shape = {
          rankCount,
          tokensPerRank: workload.tokensPerRank,
          expertCount: EXPERTS,
          topK: TOP_K,
          seed,
        };
        const plan = planDispatch(someRouting(shape, holes), somePlacement(shape), dispatchOptions(scenario));
        const { topology, network } = new Simulation(scenario).time;
        const { linkBytes } = network.transfer(topology, plan.dispatchBytes);
        const expected = new Float64Array(topology.links.length);
        const path = new Int32Array(topology.maxHops);
        for (let pair = 0; pair < rankCount ** 2; pair++) {
          const hops = topology.path(Math.floor(pair / rankCount), pair % rankCount, path);
          for (const link of path.subarray(0, hops)) expected[link] += plan.dispatchBytes[pair];
        }
        linkBytes.forEach((bytes, link) => {
          expect(bytes).toBeCloseTo(expected[link], 3);
        });
        expect(sum(choicesPerRank(plan))).toBe(sum(plan.tokensPerSlot));
      }),
      runs,
    );
  });
});
