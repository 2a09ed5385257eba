import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { comparisonHtml, reportHtml } from '@epsim/report';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findChromium, launchChromium } from '../support/chromium.js';
import { sampleComparison } from './sample-comparison.js';
import { sampleRun } from './sample-run.js';

const k3 = sampleRun({ ranks: 64, experts: 896, steps: 3, layers: 2 });

describe('the page of a run', () => {
  test('names every figure, its source and what is scaled, and needs no network', () => {
    const page = reportHtml(k3);
    for (const part of [
      'load.meanOverMax',
      'all-to-all tables',
      '± 8 %',
      'inner size 64 of 3072',
      "default-src 'none'",
    ]) {
      expect(page).toContain(part);
    }
    expect(page).not.toMatch(/(?:src|href)\s*=\s*["'](?!data:)/);
  });

  test('words of a scenario are text, whatever they hold', () => {
    const summary =
      k3.summary === null ? null : { ...k3.summary, scenario: '</title><script>alert(1)</script>' };
    const page = reportHtml({ ...k3, summary });
    expect(page).not.toContain('<script>alert');
    expect(page).toContain('&lt;script&gt;alert');
  });

  test('an interrupted run has a page too', () => {
    expect(reportHtml({ ...k3, summary: null, rankTraffic: null, linkUse: null })).toContain(
      'Interrupted run',
    );
  });
});

const chromium = findChromium();
const without = 'missing' in chromium ? ` (not run: ${chromium.missing})` : '';
if (without !== '') console.warn(`pages are not opened in a real Chromium${without}`);

describe.skipIf('missing' in chromium)(`in a real Chromium${without}`, () => {
  let browser: Browser;
  let dir: string;
  beforeAll(async () => {
    if ('missing' in chromium) return;
    dir = mkdtempSync(join(tmpdir(), 'epsim-page-'));
    browser = await launchChromium(chromium);
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(dir, { recursive: true });
  });

  /** Opens `html` from a file; gives what went wrong, its charts' pixels and its overflow. */
  async function open(html: string, width: number, colorScheme: 'light' | 'dark') {
    const file = join(dir, 'report.html');
    writeFileSync(file, html);
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) problems.push(`asked for ${request.url()}`);
    });
    await page.goto(pathToFileURL(file).href);
    const seen = await page.evaluate(coloursOfCharts);
    await context.close();
    return { problems, ...seen };
  }

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('at %i pixels, %s: no error, no overflow, every chart is drawn', async (width, scheme) => {
    const { problems, colours, overflow } = await open(reportHtml(k3), width, scheme);
    expect(problems).toEqual([]);
    expect(overflow).toBe(0);
    expect(colours).toHaveLength(6);
    for (const count of colours) expect(count).toBeGreaterThan(8);
  });

  test('the page of a comparison opens as well', async () => {
    const { problems, colours, overflow } = await open(comparisonHtml(sampleComparison()), 390, 'light');
    expect(problems).toEqual([]);
    expect(overflow).toBe(0);
    expect(colours).toHaveLength(5);
  });

  test('a page with a chart that cannot be drawn is caught', async () => {
    const broken = reportHtml(k3).replace('id="chart-0"', 'id="gone"');
    expect((await open(broken, 800, 'light')).problems.join()).toContain('Failed to create chart');
  });
});

/** Runs in the page: distinct colours of each canvas, and pixels by which the page is wider than the window. */
function coloursOfCharts(): { colours: number[]; overflow: number } {
  const page = globalThis as unknown as {
    document: {
      querySelectorAll(selector: string): Iterable<{
        width: number;
        height: number;
        getContext(kind: '2d'): {
          getImageData(x: number, y: number, w: number, h: number): { data: Uint8ClampedArray };
        };
      }>;
      documentElement: { scrollWidth: number; clientWidth: number };
    };
  };
  const colours = [...page.document.querySelectorAll('canvas')].map((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set<number>();
    for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size;
  });
  const { scrollWidth, clientWidth } = page.document.documentElement;
  return { colours, overflow: scrollWidth - clientWidth };
}
