/**
 * The short training run of a journey: the miniature as K3 is trained, and two runs that differ from it in one thing
 * each. Same start, same batches.
 */
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { type K3Weights, type MiniRun, trainMini, weightsOfParameters } from '@epsim/model';
import type { TrainingPart } from '@epsim/report';
import type { ModelShape } from '@epsim/spec';
import { Interrupted } from '../failure.js';
import { round } from './numbers.js';

const TOKENS = 64;

const forms: Readonly<Record<string, Pick<MiniRun, 'perHead' | 'balance'>>> = {
  'quantile balancing, Muon per head': { perHead: true },
  'quantile balancing, Muon whole': { perHead: false },
  'no balancing, Muon per head': { perHead: true, balance: (_layer, _scores, bias) => bias },
};

export interface Trained {
  readonly part: TrainingPart;
  /** As the first form, K3's own, left them. */
  readonly weights: K3Weights;
}

/** How many steps all runs take together. */
export function trainingSteps(steps: number): number {
  return Object.keys(forms).length * steps;
}

/** Trains each form for `steps` steps of `sequences` sequences. Throws Interrupted, keeping nothing, when the signal aborts. */
export async function trainForms(
  shape: ModelShape,
  seed: number,
  steps: number,
  sequences: number,
  signal: AbortSignal,
  onStep: (run: string) => void,
): Promise<Trained> {
  const runs: TrainingPart['runs'][number][] = [];
  let weights: K3Weights | null = null;
  for (const [name, form] of Object.entries(forms)) {
    const loss: number[] = [];
    const maxVio: number[] = [];
    const run: MiniRun = {
      ...form,
      seed,
      steps,
      sequences,
      tokensPerSequence: TOKENS,
      muonRate: 0.02,
      adamRate: 0.005,
      weightDecay: 0.05,
    };
    const training = trainMini(shape, run);
    let step = training.next();
    while (!step.done) {
      loss.push(round(step.value.loss));
      maxVio.push(round(step.value.maxVio));
      onStep(name);
      await eventLoopTurn();
      if (signal.aborted) throw new Interrupted('interrupted in the training run; nothing is written');
      step = training.next();
    }
    weights ??= weightsOfParameters(shape, step.value);
    runs.push({ name, loss, maxVio });
  }
  const part: TrainingPart = {
    source: 'training',
    model: shape.name,
    seed,
    tokensPerStep: sequences * TOKENS,
    runs,
  };
  return { part, weights: weights! };
}
