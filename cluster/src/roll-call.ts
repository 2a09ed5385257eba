/**
 * Which workers a run counts on. Asked again and again, without waiting for the answer.
 * One idea: a change counts once two calls have heard the same, since each makes the ranks be shared out anew.
 */
import { type RedisRun, seatsOf, type WorkerCard } from '@epsim/transport/redis';

/** Shortest time between two calls. */
const ROLL_CALL_MS = 1000;

export class RollCall {
  private heard: readonly WorkerCard[];
  private called = performance.now();

  constructor(
    private readonly run: RedisRun,
    private present: readonly WorkerCard[],
  ) {
    this.heard = present;
  }

  get workers(): number {
    return this.present.length;
  }

  /** Threads that may hold a shard each. */
  get seats(): number {
    return seatsOf(this.present).length;
  }

  /** Asks who is there, if that was not asked a moment ago. */
  call(): void {
    if (performance.now() - this.called < ROLL_CALL_MS) return;
    this.called = performance.now();
    this.run.workers().then(
      (cards) => {
        if (cards.length > 0 && idsOf(cards) === idsOf(this.heard)) this.present = cards;
        this.heard = cards;
      },
      () => {},
    );
  }
}

function idsOf(cards: readonly WorkerCard[]): string {
  return cards.map(({ id }) => id).join();
}
