// A real Chromium for tests of pages: found on the machine, or installed once into node_modules/.cache.
//
// Installed from the npm package @sparticuz/chromium, whose browser travels inside the package. Measured on two
// cores: 3 s to install and 2 s to unpack, and it starts in 0.3 s. Debian's chromium by apt-get takes 24 s, needs root and
// leaves the machine changed. 147.0.0 is the last version for Node 20. It is not in the lockfile because
// it weighs 75 MB and only tests on Linux x64 use it.
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';

const CHROMIUM_PACKAGE = '@sparticuz/chromium@147.0.0';
const cache = fileURLToPath(new URL('../../node_modules/.cache/chromium', import.meta.url));

const flags = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Executable {
  readonly path: string;
  /** Folder of libraries that the browser brought along; absent where the machine has its own. */
  readonly libraries?: string;
}

/** The browser to test with, or the reason why there is none. On CI there must be one: throws instead. */
export function findChromium(): Executable | { readonly missing: string } {
  const found = named() ?? onPath() ?? installed();
  if ('missing' in found && process.env.CI) throw new Error(`no Chromium on CI: ${found.missing}`);
  return found;
}

/** Starts the browser with a new profile of its own. */
export function launchChromium({ path, libraries }: Executable): Promise<Browser> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  if (libraries !== undefined)
    env.LD_LIBRARY_PATH = [libraries, env.LD_LIBRARY_PATH ?? ''].filter(Boolean).join(':');
  return chromium.launch({ executablePath: path, headless: true, args: flags, env, timeout: 30_000 });
}

function named(): Executable | undefined {
  const path = process.env.EPSIM_CHROMIUM;
  if (path === undefined) return undefined;
  if (!isExecutable(path)) throw new Error(`EPSIM_CHROMIUM: not an executable file: ${path}`);
  return { path };
}

function onPath(): Executable | undefined {
  const names = [
    'chromium',
    'chromium-browser',
    'chromium-headless-shell',
    'google-chrome',
    'google-chrome-stable',
  ];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = [
    ...folders.flatMap((folder) => names.map((name) => join(folder, name))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ];
  const path = candidates.find(isExecutable);
  return path === undefined ? undefined : { path };
}

function installed(): Executable | { readonly missing: string } {
  const executable = { path: join(cache, 'chromium'), libraries: join(cache, 'lib') };
  if (isExecutable(executable.path)) return executable;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return {
      missing: `none found, and none to install for ${process.platform} ${process.arch}; set EPSIM_CHROMIUM`,
    };
  }
  mkdirSync(cache, { recursive: true });
  const install = [
    'install',
    '--prefix',
    cache,
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    CHROMIUM_PACKAGE,
  ];
  const npm = spawnSync('npm', install, { encoding: 'utf8', timeout: 120_000 });
  if (npm.status !== 0)
    return {
      missing: `none found, and npm could not install ${CHROMIUM_PACKAGE}: ${npm.stderr.trim().slice(-300)}`,
    };
  unpack(executable.path);
  return executable;
}

/** Writes the browser and its libraries; the browser last and by renaming, so that half a browser is never found. */
function unpack(path: string): void {
  const packed = (file: string) =>
    brotliDecompressSync(readFileSync(join(cache, 'node_modules/@sparticuz/chromium/bin', file)));
  const tar = spawnSync('tar', ['-x', '-C', cache], { input: packed('al2023.tar.br') });
  if (tar.status !== 0) throw new Error(`cannot unpack Chromium's libraries: ${tar.stderr}`);
  writeFileSync(`${path}.part`, packed('chromium.br'));
  chmodSync(`${path}.part`, 0o755);
  renameSync(`${path}.part`, path);
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
