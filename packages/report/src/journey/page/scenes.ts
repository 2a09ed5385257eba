/** The scenes of a journey in order. */
import type { JourneyTrace } from '../trace.js';
import type { Scene } from './scene.js';
import { balanceScene } from './scenes/balance.js';
import { depthScene } from './scenes/depth.js';
import { kdaScene } from './scenes/kda.js';
import { mlaScene } from './scenes/mla.js';
import { muonScene } from './scenes/muon.js';
import { nextTokenScene } from './scenes/next-token.js';
import { rhythmScene } from './scenes/rhythm.js';
import { streamScene } from './scenes/stream.js';
import { trainingScene } from './scenes/training.js';
import { widthScene } from './scenes/width.js';

export function journeyScenes(trace: JourneyTrace): readonly Scene[] {
  return [
    streamScene(trace),
    rhythmScene(trace),
    kdaScene(trace),
    mlaScene(trace),
    depthScene(trace),
    widthScene(trace),
    balanceScene(trace),
    muonScene(trace),
    ...(trace.training === null ? [] : [trainingScene(trace.training)]),
    nextTokenScene(trace),
  ];
}
