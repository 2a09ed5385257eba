/**
 * The page's own script: one canvas, one position, buttons and keys that move it.
 * Runs only in a browser, after the modules beside it. Where the reader asks for reduced motion, every beat is
 * shown finished and nothing moves by itself.
 */
import type { JourneyTrace } from '../trace.js';
import { type Pen, palettes } from './pen.js';
import { type Scene, WIDE } from './scene.js';
import { journeyScenes } from './scenes.js';
import { advanced, type Lengths, type Position, playingFrom, positionAt, stepped } from './timeline.js';

const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`invariant: the page has no ${id}`);
  return found;
};

/** Scene and beat of an address such as #kda.2, or null. */
function positionOfHash(scenes: readonly Scene[], hash: string): readonly [number, number] | null {
  const [id, beat = '0'] = hash.slice(1).split('.');
  const scene = scenes.findIndex((own) => own.id === id);
  return scene < 0 ? null : [scene, Number.parseInt(beat, 10) || 0];
}

/** What the page shows on, and what the reader asks of it. */
interface Stage {
  readonly scenes: readonly Scene[];
  readonly canvas: HTMLCanvasElement;
  /** Reduced motion, and a dark page. */
  readonly still: MediaQueryList;
  readonly dark: MediaQueryList;
}

/** Draws the picture of a position, in the size that the page has now. */
function paint({ scenes, canvas, still, dark }: Stage, at: Position): void {
  const { width } = canvas.parentElement?.getBoundingClientRect() ?? { width: 320 };
  const scene = scenes[at.scene];
  const height = Math.ceil(scene.height(width));
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const g = canvas.getContext('2d');
  if (g === null) return;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  const pen: Pen = { g, width, wide: width >= WIDE, colours: dark.matches ? palettes.dark : palettes.light };
  scene.draw(pen, at.beat, still.matches ? 1 : at.fraction);
}

const nameOf = ({ scenes }: Stage, at: Position) => `${scenes[at.scene].id}.${at.beat}`;

/** Sets the words of a scene's beat, what stands below it, the pressed button and the address. */
function tell(stage: Stage, at: Position): void {
  const scene = stage.scenes[at.scene];
  const { caption } = scene.beats[at.beat];
  byId('title').textContent = `${at.scene + 1}. ${scene.title}`;
  byId('story').textContent = scene.story;
  byId('caption').textContent = caption;
  byId('count').textContent = `${at.beat + 1} of ${scene.beats.length}`;
  stage.canvas.setAttribute('aria-label', `${scene.title}. ${caption}`);
  document.body.dataset.scene = scene.id;
  for (const element of document.querySelectorAll<HTMLElement>('[data-of]')) {
    element.hidden = element.dataset.of !== scene.id;
  }
  document.querySelectorAll('#scenes button').forEach((button, i) => {
    if (i === at.scene) button.setAttribute('aria-current', 'step');
    else button.removeAttribute('aria-current');
  });
  history.replaceState(null, '', `#${nameOf(stage, at)}`);
}

interface Actions {
  readonly toggle: () => void;
  readonly step: (by: 1 | -1) => void;
  /** To a scene, counted from 0; past the ends is the first or last. */
  readonly jump: (scene: number) => void;
  readonly here: () => Position;
}

function listenToKeys({ toggle, step, jump, here }: Actions, sceneCount: number): void {
  const keys: Readonly<Record<string, () => void>> = {
    ' ': toggle,
    ArrowRight: () => step(1),
    ArrowLeft: () => step(-1),
    PageDown: () => jump(here().scene + 1),
    PageUp: () => jump(here().scene - 1),
    Home: () => jump(0),
    End: () => jump(sceneCount - 1),
  };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    // A focused button answers the space bar itself.
    if (event.key === ' ' && event.target instanceof HTMLButtonElement) return;
    const digit = /^[0-9]$/.test(event.key) ? (Number(event.key) + 9) % 10 : -1;
    const action = digit >= 0 && digit < sceneCount ? () => jump(digit) : keys[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

function listenToButtons({ toggle, step, jump }: Actions): void {
  byId('play').addEventListener('click', toggle);
  byId('next').addEventListener('click', () => step(1));
  byId('back').addEventListener('click', () => step(-1));
  document.querySelectorAll('#scenes button').forEach((button, i) => {
    button.addEventListener('click', () => jump(i));
  });
}

/** Shows positions and moves on with time; `move` is the only way to another position. */
function startClock(stage: Stage, lengths: Lengths, start: Position) {
  let at = start;
  let told = '';
  let before: number | null = null;
  const move = (to: Position) => {
    at = to;
    byId('play').textContent = at.playing ? 'Pause' : 'Play';
    byId('play').setAttribute('aria-pressed', String(at.playing));
    if (nameOf(stage, at) !== told) tell(stage, at);
    told = nameOf(stage, at);
    paint(stage, at);
  };
  const tick = (time: number) => {
    const seconds = before === null ? 0 : Math.min(0.1, (time - before) / 1000);
    before = at.playing ? time : null;
    if (!at.playing) return;
    move(advanced(lengths, at, seconds));
    requestAnimationFrame(tick);
  };
  const play = (from: Position) => {
    move(from);
    if (at.playing) requestAnimationFrame(tick);
  };
  return { move, play, here: () => at };
}

export function playJourney(): void {
  const trace = JSON.parse(byId('trace').textContent ?? '') as JourneyTrace;
  const scenes = journeyScenes(trace);
  const lengths = scenes.map((scene) => scene.beats.map((beat) => beat.seconds));
  const stage: Stage = {
    scenes,
    canvas: byId('picture') as HTMLCanvasElement,
    still: matchMedia('(prefers-reduced-motion: reduce)'),
    dark: matchMedia('(prefers-color-scheme: dark)'),
  };
  const linked = positionOfHash(scenes, location.hash);
  const { move, play, here } = startClock(stage, lengths, positionAt(lengths, 0));
  const actions: Actions = {
    toggle: () => play(here().playing ? { ...here(), playing: false } : playingFrom(lengths, here())),
    step: (by) => move(stepped(lengths, here(), by)),
    jump: (scene) => move(positionAt(lengths, scene)),
    here,
  };
  listenToKeys(actions, scenes.length);
  listenToButtons(actions);
  addEventListener('resize', () => paint(stage, here()));
  stage.dark.addEventListener('change', () => paint(stage, here()));
  addEventListener('hashchange', () => {
    const to = positionOfHash(scenes, location.hash);
    if (to !== null && location.hash !== `#${nameOf(stage, here())}`) move(positionAt(lengths, ...to));
  });
  const first = positionAt(lengths, ...(linked ?? [0, 0]));
  if (linked !== null || stage.still.matches) move(first);
  else play({ ...first, fraction: 0, playing: true });
}
