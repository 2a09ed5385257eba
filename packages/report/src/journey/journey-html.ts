/**
 * A journey as one self-contained page: the trace as data, the scenes that draw it, and words that say whose
 * figures stand where. Equal traces give equal bytes.
 */
import { readFileSync } from 'node:fs';
import { escapeHtml } from '../page-html.js';
import { journeyStyle } from './journey-style.js';
import type { Scene } from './page/scene.js';
import { journeyScenes } from './page/scenes.js';
import type { JourneyTrace, SourceName } from './trace.js';

/** Modules of the page in the order of their needs. */
const SCENE_MODULES = [
  'stream',
  'rhythm',
  'kda',
  'mla',
  'depth',
  'width',
  'balance',
  'muon',
  'training',
  'next-token',
];
const MODULES = [
  '../page/format',
  'page/pen',
  'page/scene',
  'page/timeline',
  ...SCENE_MODULES.map((name) => `page/scenes/${name}`),
  'page/scenes',
  'page/player',
];

const sourceNames: Readonly<Record<SourceName, string>> = {
  miniature: 'Miniature, carried',
  calibration: 'Miniature, calibration batch',
  gradient: 'Miniature, gradient',
  training: 'Miniature, training run',
  fullSizePlan: 'Kimi K3 at full size, plan',
  fullSizeShape: 'Kimi K3 at full size, sizes',
};

/** Short names for the row of buttons. */
const shortNames: Readonly<Record<string, string>> = {
  stream: 'stream',
  rhythm: 'rhythm',
  kda: 'memory',
  mla: 'latents',
  depth: 'depth',
  width: 'experts',
  balance: 'balance',
  muon: 'heads',
  training: 'training',
  'next-token': 'next token',
};

/** The page, HTML text. */
export function journeyHtml(trace: JourneyTrace): string {
  const scenes = journeyScenes(trace);
  const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";
  const buttons = scenes.map(
    ({ id, title }, i) =>
      `<li><button type="button" aria-label="${escapeHtml(title)}">${i + 1} <span>${shortNames[id]}</span></button></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>One token through ${escapeHtml(trace.model)} · epsim</title>
<style>${journeyStyle}</style>
</head>
<body>
<main>
<header><h1>One token, three ways to travel</h1>
<p>Along the sequence, down the depth, across the width of ${escapeHtml(trace.model)}, seed ${trace.seed}, epsim ${escapeHtml(trace.version)}. Every figure is measured in a run or computed from sizes, and says which.</p></header>
<nav aria-label="scenes"><ol id="scenes">${buttons.join('')}</ol></nav>
<section class="stage" aria-label="scene">
<h2 id="title"></h2>
<p id="story"></p>
<div class="picture"><canvas id="picture" role="img"></canvas></div>
<p id="caption" aria-live="polite"></p>
<div class="controls">
<button type="button" id="back">Back</button><button type="button" id="play" aria-pressed="false">Play</button><button type="button" id="next">Step</button>
<span id="count"></span>
<span class="hint"><kbd>space</kbd> play · <kbd>←</kbd> <kbd>→</kbd> step · <kbd>1</kbd>–<kbd>9</kbd> <kbd>0</kbd> scene</span>
</div>
</section>
${scenes.map((scene) => besidesHtml(scene, trace)).join('\n')}
<noscript><p>The pictures are drawn by a script; the figures stand in journey.json.</p></noscript>
</main>
<script type="application/json" id="trace">${JSON.stringify(trace).replaceAll('<', '\\u003c')}</script>
<script>(() => {
'use strict';
const modules = {};
${MODULES.map(plainScript).join('\n')}
modules['/page/player.js'].playJourney();
})();</script>
</body>
</html>
`;
}

/** Under the picture of a scene: where its figures come from, and the full size kept apart. */
function besidesHtml({ id, sources, fullSize }: Scene, trace: JourneyTrace): string {
  const from = sources.map((source) => {
    const words = trace.sources[source] ?? 'not made in this journey';
    const full = source.startsWith('fullSize') ? ' class="full"' : '';
    return `<p${full}><b>${sourceNames[source]}</b>${escapeHtml(words)}</p>`;
  });
  const facts = fullSize.map((fact) => `<li>${escapeHtml(fact)}</li>`);
  return `<section class="from" data-of="${id}" hidden>${from.join('')}</section>${
    facts.length === 0
      ? ''
      : `<section class="scale" data-of="${id}" hidden><b>For scale: Kimi K3 at full size</b><ul>${facts.join('')}</ul></section>`
  }`;
}

/**
 * A compiled module as a function that fills `modules`: each has a scope of its own, as it had as a file.
 * `import { a as b } from './x.js'` reads from a module that stands before it.
 */
function plainScript(name: string): string {
  const text = readFileSync(new URL(`./${name}.js`, import.meta.url), 'utf8');
  const exported = [...text.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(([, own]) => own);
  const plain = text
    .replace(/^import \{([^}]*)\} from '([^']+)';$/gm, (_, names: string, from: string) => {
      const file = new URL(from, new URL(`http://journey/${name}`)).pathname;
      return `const {${names.replaceAll(' as ', ': ')}} = modules['${file}'];`;
    })
    .replace(/^export (?=(?:async )?(?:function|const))/gm, '')
    .replace(/^export \{\};$/gm, '')
    .replace(/^\/\/# sourceMappingURL=.*$/m, '');
  if (/<\/script|<!--|^(?:import|export) /im.test(plain)) {
    throw new Error(`invariant: ${name} cannot stand in a page as it is`);
  }
  const { pathname } = new URL(`${name}.js`, 'http://journey/');
  return `(() => {\n${plain}\nmodules['${pathname}'] = { ${exported.join(', ')} };\n})();`;
}
