/**
 * Points of a sweep, done by the workers of a cluster: the coordinator's side.
 * One idea: a point is a job of its own, so each is done once, by whoever is free, and its result is there as soon
 * as it is finished. What is lost on the way is sent again.
 */
import { randomBytes } from 'node:crypto';
import { catalog, type Measured, readMeasured } from '@epsim/engine';
import { resolvedYaml, type Scenario } from '@epsim/spec';
import { ClusterFailure } from '@epsim/transport';
import { type Channel, JobsLost, POINTS, RedisRun } from '@epsim/transport/redis';
import type { CoordinatorOptions } from './coordinator.js';
import { LIFE_MS, runId } from './coordinator.js';
import { POINT_JOB, type PointJobData, pointAnswerSchema } from './point-job.js';
import { mayBeginAgain } from './redis-fabric.js';

/** How often a point is sent before the sweep is given up. */
const MOST_TRIES = 10;

export interface PointRunner {
  /** Points that are worth having on their way at a time: two for each thread that is there. */
  width(): Promise<number>;
  /** One point's summary and records. Throws ClusterFailure when it cannot be had. */
  measure(scenario: Scenario, readFile: (path: string) => Uint8Array): Promise<Measured>;
  close(): Promise<void>;
}

/** Joins the cluster and waits for a worker. `phaseMs` bounds a point, its wait for a free worker included. */
export async function openPoints(options: CoordinatorOptions): Promise<PointRunner> {
  const id = runId(options.name);
  const run = await RedisRun.open({ ...options, run: id, lifeMs: LIFE_MS, expireMs: 4 * options.phaseMs });
  try {
    await run.waitForWorkers();
  } catch (thrown) {
    await run.close();
    throw thrown;
  }
  const points = new Points(run, id, options);
  return {
    width: async () => {
      const threads = (await run.workers()).reduce((sum, worker) => sum + worker.threads, 0);
      return 2 * Math.max(1, threads);
    },
    measure: (scenario, readFile) => points.measure(scenario, readFile),
    close: () => run.close(),
  };
}

class Points {
  constructor(
    private readonly run: RedisRun,
    private readonly id: string,
    private readonly options: CoordinatorOptions,
  ) {}

  async measure(scenario: Scenario, readFile: (path: string) => Uint8Array): Promise<Measured> {
    const read = filesOf(scenario, readFile);
    for (let tries = 1; ; tries++) {
      try {
        return await this.attempt(scenario, read);
      } catch (thrown) {
        if (!mayBeginAgain(thrown)) throw thrown;
        if (tries === MOST_TRIES) {
          throw new ClusterFailure(
            `a point was lost ${tries} times, the last time because ${thrown.message}`,
          );
        }
        this.options.note(`a point is sent again: ${thrown.message}`);
        await this.run.showAgain();
      }
    }
  }

  private async attempt(scenario: Scenario, read: ReadonlyMap<string, Uint8Array>): Promise<Measured> {
    const store = this.run.store();
    const channels: Channel[] = [];
    const files: PointJobData['files'] = [];
    for (const [path, bytes] of read) {
      const name = `file.${randomBytes(6).toString('hex')}`;
      const content = await store.put(name, [{ from: 0, to: 0, bytes }]);
      channels.push(content);
      files.push({ path, content });
    }
    const { version, phaseMs, patienceMs } = this.options;
    const data: PointJobData = {
      ...{ version, run: this.id, token: this.id, patienceMs, expireMs: 4 * phaseMs, files },
      scenario: resolvedYaml(scenario),
    };
    const [raw] = await this.run.jobs([{ queue: POINTS, name: POINT_JOB, data }], phaseMs);
    const parsed = pointAnswerSchema.safeParse(raw);
    if (!parsed.success) throw new JobsLost('no answer');
    const answer = parsed.data;
    if (answer.outcome !== 'done') {
      if (answer.outcome === 'lost' || answer.outcome === 'stale') throw new JobsLost(answer.reason);
      throw new ClusterFailure(answer.reason);
    }
    const parts: Buffer[] = [];
    await store.take(answer.result, ({ bytes }) => parts.push(Buffer.from(bytes)));
    await store.drop([...channels, answer.result]);
    try {
      return readMeasured(Buffer.concat(parts).toString('utf8'));
    } catch {
      throw new JobsLost('the answer is no result of a point');
    }
  }
}

/** The files that the scenario's workload reads, by the names that it uses. */
function filesOf(scenario: Scenario, readFile: (path: string) => Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const { cluster, model, workload, seed, layers } = scenario;
  catalog.workload[workload.kind].create(
    {
      seed,
      rankCount: cluster.rankCount,
      tokensPerRank: workload.tokensPerRank,
      expertCount: model.moe.expertCount,
      topK: model.moe.topK,
      layers,
      readFile: (path) => {
        const bytes = readFile(path);
        files.set(path, bytes);
        return bytes;
      },
    },
    workload.options,
  );
  return files;
}
