/**
 * Who is there. A worker shows a card that expires when it falls silent; from the cards alone everybody derives the
 * same dealing of lanes, so nobody has to be asked.
 * Dealing decides only who is asked first: a job belongs to whoever holds its lock, whatever the cards say.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { LANES, RUNS, runKey, WORKERS, workerKey } from './keys.js';

const cardSchema = z.object({
  id: z.string().max(100),
  version: z.string().max(100),
  host: z.string().max(300),
  pid: z.number(),
  threads: z.number(),
  /** Redis's clock when it joined, microseconds; the older worker has the smaller number. */
  joined: z.number(),
  lanes: z.array(z.number()).max(1000),
  /** What it does now, for people. */
  doing: z.string().max(300),
  jobsDone: z.number(),
});
export type WorkerCard = z.infer<typeof cardSchema>;

/** Redis's clock, microseconds. */
export async function redisTime(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1e6 + Number(micros);
}

export async function showCard(redis: Redis, card: WorkerCard, lifeMs: number): Promise<void> {
  await redis
    .multi()
    .set(workerKey(card.id), JSON.stringify(card), 'PX', lifeMs)
    .sadd(WORKERS, card.id)
    .pexpire(WORKERS, 10 * lifeMs)
    .exec();
}

export async function takeCardAway(redis: Redis, id: string): Promise<void> {
  await redis.multi().unlink(workerKey(id)).srem(WORKERS, id).exec();
}

/** Cards of the workers that are there, oldest first. Cards that cannot be read are passed over. */
export async function workersPresent(redis: Redis): Promise<WorkerCard[]> {
  const ids = await redis.smembers(WORKERS);
  if (ids.length === 0) return [];
  const texts = await redis.mget(ids.map(workerKey));
  const cards: WorkerCard[] = [];
  const gone: string[] = [];
  texts.forEach((text, i) => {
    const card = text === null ? null : cardSchema.safeParse(jsonOf(text));
    if (card?.success) cards.push(card.data);
    else gone.push(ids[i]);
  });
  if (gone.length > 0) await redis.srem(WORKERS, gone);
  return cards.sort((a, b) => a.joined - b.joined || (a.id < b.id ? -1 : 1));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A seat for each thread of the workers present, the first of each worker first; so many as there are lanes, at most. */
export function seatsOf(present: readonly WorkerCard[]): string[] {
  const most = Math.min(LANES, Math.max(0, ...present.map(({ threads }) => threads)));
  const rounds = Array.from({ length: most }, (_, round) => present.filter(({ threads }) => threads > round));
  return rounds
    .flat()
    .slice(0, LANES)
    .map(({ id }) => id);
}

/** Lanes of the worker `id` among those present: every lane has exactly one worker. */
export function lanesOf(id: string, present: readonly WorkerCard[]): number[] {
  const seats = seatsOf(present);
  return Array.from({ length: LANES }, (_, lane) => lane).filter((lane) => seats[lane % seats.length] === id);
}

/** A line for the first worker whose version is not `version`; null when all agree. */
export function versionConflict(present: readonly WorkerCard[], version: string): string | null {
  const other = present.find((card) => card.version !== version);
  if (!other) return null;
  return `worker ${other.id} is version ${other.version}, this is ${version}; versions do not mix, because results would: stop one of them, or use another Redis database`;
}

/** Shows that the run is driven, for `lifeMs`. */
export async function showRun(redis: Redis, run: string, token: string, lifeMs: number): Promise<void> {
  await redis.multi().set(runKey(run), token, 'PX', lifeMs).sadd(RUNS, run).exec();
}
