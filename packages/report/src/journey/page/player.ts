/**
 * The page's own script: one canvas, one position, buttons and keys that move it.
 * Runs only in a browser, after the modules beside it. Where the reader asks for reduced motion, every beat is
 * shown finished and nothing moves by itself.
 */
import type { JourneyTrace } from '../trace.js';
import { type Pen, palettes } from './pen.js';
import { type Scene, WIDE } from './scene.js';
import { journeyScenes } from './scenes.js';
import { advanced, type Position, playingFrom, positionAt, stepped } from './timeline.js';

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

export function playJourney(): void {
  const trace = JSON.parse(byId('trace').textContent ?? '') as JourneyTrace;
  const scenes = journeyScenes(trace);
  const lengths = scenes.map((scene) => scene.beats.map((beat) => beat.seconds));
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const canvas = byId('picture') as HTMLCanvasElement;
  let shown = '';
  let at = positionAt(lengths, ...(positionOfHash(scenes, location.hash) ?? [0, 0]));

  const paint = () => {
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
    const pen: Pen = {
      g,
      width,
      wide: width >= WIDE,
      colours: dark.matches ? palettes.dark : palettes.light,
    };
    scene.draw(pen, at.beat, still.matches ? 1 : at.fraction);
  };
  const tell = () => {
    const scene = scenes[at.scene];
    const { caption } = scene.beats[at.beat];
    byId('play').textContent = at.playing ? 'Pause' : 'Play';
    byId('play').setAttribute('aria-pressed', String(at.playing));
    const now = `${scene.id}.${at.beat}`;
    if (now === shown) return;
    shown = now;
    byId('title').textContent = `${at.scene + 1}. ${scene.title}`;
    byId('story').textContent = scene.story;
    byId('caption').textContent = caption;
    byId('count').textContent = `${at.beat + 1} of ${scene.beats.length}`;
    canvas.setAttribute('aria-label', `${scene.title}. ${caption}`);
    document.body.dataset.scene = scene.id;
    for (const element of document.querySelectorAll<HTMLElement>('[data-of]')) {
      element.hidden = element.dataset.of !== scene.id;
    }
    document.querySelectorAll('#scenes button').forEach((button, i) => {
      if (i === at.scene) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    });
    history.replaceState(null, '', `#${now}`);
  };
  const move = (to: Position) => {
    at = to;
    tell();
    paint();
  };

  let before: number | null = null;
  const tick = (time: number) => {
    const seconds = before === null ? 0 : Math.min(0.1, (time - before) / 1000);
    before = at.playing ? time : null;
    if (!at.playing) return;
    move(advanced(lengths, at, seconds));
    requestAnimationFrame(tick);
  };
  const toggle = () => {
    move(at.playing ? { ...at, playing: false } : playingFrom(lengths, at));
    if (at.playing) requestAnimationFrame(tick);
  };
  const jump = (scene: number) => move(positionAt(lengths, scene));

  const keys: Readonly<Record<string, () => void>> = {
    ' ': toggle,
    ArrowRight: () => move(stepped(lengths, at, 1)),
    ArrowLeft: () => move(stepped(lengths, at, -1)),
    PageDown: () => jump(at.scene + 1),
    PageUp: () => jump(at.scene - 1),
    Home: () => jump(0),
    End: () => jump(scenes.length - 1),
  };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    // A focused button answers the space bar itself.
    if (event.key === ' ' && event.target instanceof HTMLButtonElement) return;
    const digit = /^[0-9]$/.test(event.key) ? (Number(event.key) + 9) % 10 : -1;
    const action = digit >= 0 && digit < scenes.length ? () => jump(digit) : keys[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  byId('play').addEventListener('click', toggle);
  byId('next').addEventListener('click', () => move(stepped(lengths, at, 1)));
  byId('back').addEventListener('click', () => move(stepped(lengths, at, -1)));
  document.querySelectorAll('#scenes button').forEach((button, i) => {
    button.addEventListener('click', () => jump(i));
  });
  addEventListener('resize', paint);
  addEventListener('hashchange', () => {
    const to = positionOfHash(scenes, location.hash);
    if (to !== null && location.hash !== `#${shown}`) move(positionAt(lengths, ...to));
  });
  dark.addEventListener('change', paint);
  const linked = location.hash.length > 1;
  move(at);
  if (linked || still.matches) return;
  at = { ...at, fraction: 0, playing: true };
  tell();
  requestAnimationFrame(tick);
}
