import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type JourneyTrace, journeyHtml, journeyScenes, journeyTraceSchema } from '@epsim/report';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.js';
import { emptyFolder, epsim, root } from '../support/epsim.js';

const dir = emptyFolder();
const file = (name: string) => join(dir, name);
const run = epsim(['journey', '--out', dir]);
const trace = JSON.parse(readFileSync(file('journey.json'), 'utf8')) as JourneyTrace;
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
afterAll(() => rmSync(dir, { recursive: true }));

describe('epsim journey', () => {
  test('answers in words and writes the trace and the page', () => {
    expect(run.status).toBe(0);
    expect(run.stdout).toContain('kimi-k3-mini, seed 7');
    expect(run.stdout).toContain('Kimi K3 at full size, for scale: 93 layers, 896 experts, 16 chosen');
    expect(readFileSync(file('journey.html'), 'utf8')).toBe(journeyHtml(trace));
  });

  test('writes what its published schema says, every field and no other', () => {
    expect(journeyTraceSchema.parse(trace)).toEqual(trace);
    for (const key of Object.keys(trace)) {
      const { [key as keyof JourneyTrace]: _, ...rest } = trace;
      expect(journeyTraceSchema.safeParse(rest).success, key).toBe(false);
    }
    const schema = JSON.parse(readFileSync(join(root, 'docs/schema/journey.schema.json'), 'utf8'));
    expect(schema.required).toEqual(Object.keys(trace));
  });

  test('measures what the mechanisms promise', () => {
    const { kda, mla, depth, width, balance, muon, nextToken, stream } = trace;
    expect(stream.tokens.slice(0, 5).map(({ kind }) => kind)).toEqual([...Array(4).fill('image'), 'text']);
    expect(kda.tokens).toHaveLength(stream.focus + 1);
    for (const { state } of kda.tokens) expect(state).toHaveLength(kda.headDim ** 2);
    for (const row of mla.weights) expect(sum(row)).toBeCloseTo(1, 3);
    expect(mla.recomputedError).toBeLessThan(1e-5);
    for (const { weights } of depth) expect(sum(weights)).toBeCloseTo(1, 3);
    expect(width.carriedBytes).toBe(width.batchBytes);
    expect(width.threshold).toBeGreaterThanOrEqual(width.runnerUp);
    expect(width.biased.filter((value) => value > width.runnerUp + 1e-4).length).toBeLessThanOrEqual(
      width.topK,
    );
    expect(sum(width.chosen.map(({ weight }) => weight))).toBeCloseTo(1, 4);
    const [before, after] = [balance.rounds[0], balance.rounds[balance.rounds.length - 1]];
    expect(sum(before.loads)).toBe(balance.tokens * balance.topK);
    expect(sum(after.loads)).toBe(balance.tokens * balance.topK);
    expect(after.maxVio).toBeLessThan(before.maxVio / 2);
    for (const block of muon.blocks) expect(block.perHead).toBeLessThan(block.whole);
    expect(sum(nextToken.top.map(({ probability }) => probability)) + nextToken.restProbability).toBeCloseTo(
      1,
      3,
    );
  });

  test('state after each token follows from the one before by decay, probe, correction and write', () => {
    const { tokens, headDim: dim } = trace.kda;
    let before = new Array<number>(dim * dim).fill(0);
    for (const { alpha, beta, key, missed, value, predicted, state } of tokens) {
      const faded = before.map((s, i) => s * alpha[Math.floor(i / dim)]);
      for (let column = 0; column < dim; column++) {
        const probe = sum(key.map((k, row) => k * faded[row * dim + column]));
        expect(probe).toBeCloseTo(predicted[column], 2);
        expect(value[column] - predicted[column]).toBeCloseTo(missed[column], 3);
      }
      state.forEach((s, i) => {
        expect(s).toBeCloseTo(faded[i] + beta * key[Math.floor(i / dim)] * missed[i % dim], 3);
      });
      before = [...state];
    }
  });

  test('keeps full size apart: 896 experts, 173,824 B a token before rows are shared, 449 MB of state', () => {
    const { fullSize, fullSizeWidth: full } = trace;
    expect(full.biased).toHaveLength(896);
    expect(full.chosen).toHaveLength(16);
    expect(full.rowsPerChoice * (full.dispatchRowBytes + full.combineRowBytes)).toBe(173_824);
    expect(full.carriedBytes).toBeNull();
    expect(fullSize.cacheBytesPerToken).toBe(27_648);
    expect(Math.round(fullSize.kdaStateBytes / 1e6)).toBe(449);
    for (const scene of journeyScenes(trace)) {
      for (const source of scene.sources)
        expect(trace.sources[source]).toMatch(/kimi-k3-mini|Kimi K3 at full size/);
    }
  });

  test('gives the same bytes on threads', () => {
    const other = emptyFolder();
    expect(epsim(['journey', '--out', other, '--transport', 'thread', '--quiet']).status).toBe(0);
    for (const name of ['journey.json', 'journey.html']) {
      expect(readFileSync(join(other, name)).equals(readFileSync(file(name)))).toBe(true);
    }
    rmSync(other, { recursive: true });
  });

  test('follows an image patch, in any scenario with a small enough model', () => {
    const scenario = join(root, 'scenarios/k3-quickstart.yaml');
    const set = [
      '--set',
      'model=kimi-k3-mini',
      '--set',
      'cluster.ranks=4',
      '--set',
      'carry.expertInnerSize=32',
    ];
    const { stdout, stderr, status } = epsim([
      'journey',
      scenario,
      ...set,
      '--token',
      '2',
      '--json',
      '--quiet',
    ]);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const other = JSON.parse(stdout) as JourneyTrace;
    expect(other.stream.tokens[other.stream.focus].label).toBe('patch 3');
    expect(other.kda.tokens).toHaveLength(3);
    expect(other.width.rankCount).toBe(4);
  });

  test.each([
    [
      'a model of full size',
      [join(root, 'scenarios/k3-quickstart.yaml')],
      /kimi-k3: 2722\d+ M weights of experts.*use kimi-k3-mini/,
    ],
    ['a token beyond the stream', ['--token', '99'], /token 99 is not in a stream of 38/],
    ['a text that is too long', ['--text', 'x'.repeat(257)], /a text of 257 characters; at most 256/],
    ['a letter outside the vocabulary', ['--text', 'né'], /character 1 \(é\) is not printable ASCII/],
    [
      'a folder that is a file, before it trains',
      ['--out', join(root, 'package.json'), '--train'],
      /package\.json is a file, not a folder/,
    ],
    [
      'a token beyond the stream, before it trains',
      ['--token', '99', '--train'],
      /token 99 is not in a stream/,
    ],
    ['steps that no Ctrl-C would reach', ['--train', '--sequences', '100000'], /whole number from 1 to 64/],
    ['an override of nothing', ['--set', 'seed=3'], /there is no scenario to override/],
  ])('refuses %s with code 2', (_, args, message) => {
    const outcome = epsim(['journey', ...args, '--quiet']);
    expect(outcome.stderr).toMatch(message);
    expect(outcome).toMatchObject({ status: 2, stdout: '' });
  });
});

const chromium = findChromium();
const without = 'missing' in chromium ? ` (not run: ${chromium.missing})` : '';
if (without !== '') console.warn(`the journey's page is not opened in a real Chromium${without}`);

describe.skipIf('missing' in chromium)(`the page in a real Chromium${without}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    if (!('missing' in chromium)) browser = await launchChromium(chromium);
  });
  afterAll(() => browser?.close());

  interface Look {
    readonly width?: number;
    readonly scheme?: 'light' | 'dark';
    readonly motion?: 'reduce' | 'no-preference';
    readonly hash?: string;
  }
  const open = async (look: Look): Promise<{ page: Page; errors: string[] }> => {
    const page = await browser.newPage({
      viewport: { width: look.width ?? 1280, height: 900 },
      colorScheme: look.scheme ?? 'light',
      reducedMotion: look.motion ?? 'no-preference',
    });
    const errors: string[] = [];
    page.on('console', (message) => errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(error.message));
    await page.addInitScript({ content: watchTexts });
    await page.goto(`${pathToFileURL(file('journey.html'))}${look.hash ?? ''}`);
    return { page, errors };
  };
  /** Notes, in the page, where each text of the latest picture stands: what leaves the picture, what overlaps. */
  const watchTexts = `(() => {
    const own = CanvasRenderingContext2D.prototype;
    const { fillText, clearRect } = own;
    let texts = [];
    own.clearRect = function (...args) {
      texts = [];
      clearRect.apply(this, args);
    };
    own.fillText = function (text, x, y) {
      const { width, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = this.measureText(text);
      const left = x - width * ({ right: 1, center: 0.5 }[this.textAlign] ?? 0);
      if (text !== '' && this.globalAlpha > 0) {
        texts.push({ text, left, right: left + width, top: y - up, bottom: y + down });
      }
      fillText.call(this, text, x, y);
    };
    window.misplaced = () => {
      const { clientWidth } = document.querySelector('canvas');
      const cut = texts.filter(({ left, right }) => left < -1 || right > clientWidth + 1);
      const meets = (a, b) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
      const over = texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => meets(a, b)).map((b) => a.text + ' over ' + b.text));
      return [...cut.map(({ text }) => text + ' leaves the picture'), ...over];
    };
  })()`;
  const hash = (page: Page) => page.evaluate<string>('location.hash');
  const picture = (page: Page) => page.evaluate<string>("document.querySelector('canvas').toDataURL()");
  /** Colours in the picture; a picture that was not drawn has one. */
  const colours = (page: Page) =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('canvas');
      const { width, height } = canvas;
      const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size;
    })()`);

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1440, 'light'],
    [1440, 'dark'],
  ] as const)(
    'draws every beat of every scene at %i px, %s, without errors, cut or overlapping texts and sideways scrolling',
    async (width, scheme) => {
      const { page, errors } = await open({ width, scheme, hash: '#stream.0' });
      for (const scene of journeyScenes(trace)) {
        for (const [beat, { caption }] of scene.beats.entries()) {
          expect(await hash(page)).toBe(`#${scene.id}.${beat}`);
          expect(await page.textContent('#caption')).toBe(caption);
          expect(await colours(page), `${scene.id}.${beat}`).toBeGreaterThan(8);
          expect(await page.evaluate<string[]>('misplaced()'), `${scene.id}.${beat}`).toEqual([]);
          await page.keyboard.press('ArrowRight');
        }
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          width,
        );
      }
      expect(errors).toEqual([]);
      await page.close();
    },
  );

  test('says under each scene which run its figures come from', async () => {
    const { page } = await open({ hash: '#stream.0' });
    for (const scene of journeyScenes(trace)) {
      const shown = await page.locator('.from:visible').allTextContents();
      expect(shown).toHaveLength(1);
      for (const source of scene.sources) expect(shown[0]).toContain(trace.sources[source]);
      await page.keyboard.press('PageDown');
    }
    await page.close();
  });

  test('is moved by keys and by buttons', async () => {
    const { page } = await open({ hash: '#stream.0' });
    const after = async (key: string) => {
      await page.keyboard.press(key);
      return hash(page);
    };
    const last = journeyScenes(trace).length - 1;
    expect(await after('3')).toBe('#kda.0');
    expect(await after('ArrowRight')).toBe('#kda.1');
    expect(await after('ArrowLeft')).toBe('#kda.0');
    expect(await after('ArrowLeft')).toBe('#rhythm.3');
    expect(await after('PageDown')).toBe('#kda.0');
    expect(await after('End')).toBe(`#${journeyScenes(trace)[last].id}.0`);
    expect(await after('Home')).toBe('#stream.0');
    await page.click('#next');
    expect(await hash(page)).toBe('#stream.1');
    await page.click('#back');
    expect(await hash(page)).toBe('#stream.0');
    await page.click('#scenes li:nth-child(6) button');
    expect(await hash(page)).toBe('#width.0');
    await page.keyboard.press('Tab');
    await page.close();
  });

  test('plays by itself, pauses and plays on with the space bar', async () => {
    const { page } = await open({});
    await expect.poll(() => hash(page), { timeout: 10_000 }).not.toBe('#stream.0');
    await page.keyboard.press(' ');
    expect(await page.textContent('#play')).toBe('Play');
    const still = await picture(page);
    await page.waitForTimeout(200);
    expect(await picture(page)).toBe(still);
    await page.keyboard.press(' ');
    expect(await page.textContent('#play')).toBe('Pause');
    await expect.poll(() => picture(page)).not.toBe(still);
    await page.close();
  });

  test('moves nothing by itself where the reader asks for reduced motion, and shows beats finished', async () => {
    const { page } = await open({ motion: 'reduce' });
    const first = await picture(page);
    await page.waitForTimeout(300);
    expect(await picture(page)).toBe(first);
    expect(await hash(page)).toBe('#stream.0');
    await page.keyboard.press(' ');
    await page.waitForTimeout(200);
    expect(await hash(page)).toBe('#stream.1');
    const playing = await picture(page);
    await page.keyboard.press(' ');
    expect(await picture(page)).toBe(playing);
    await page.close();
  });
});
