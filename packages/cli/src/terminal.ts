/**
 * The two streams: standard output is the answer, standard error is everything else.
 */
import { SingleBar } from 'cli-progress';

export interface Terminal {
  /** The answer. */
  answer(text: string): void;
  /** Warnings and notices; silent under --quiet. */
  note(text: string): void;
  /** A progress bar of `total` units, drawn only on a terminal. */
  progress(total: number, unit: string): Progress;
  readonly width: number;
  readonly colour: boolean;
}

export interface Progress {
  advance(done: number, what: string): void;
  stop(): void;
}

export function terminal(quiet: boolean): Terminal {
  const { stdout, stderr } = process;
  return {
    width: Math.min(stdout.columns ?? 100, 120),
    colour: stdout.isTTY === true && process.env.NO_COLOR === undefined,
    answer: (text) => void stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    note: (text) => {
      if (!quiet) stderr.write(`${text}\n`);
    },
    progress(total, unit) {
      if (quiet || !stderr.isTTY) return { advance() {}, stop() {} };
      const bar = new SingleBar({
        format: `{bar} {value}/{total} ${unit} {what}`,
        barCompleteChar: '█',
        barIncompleteChar: '░',
        barsize: 24,
        stream: stderr,
        hideCursor: true,
        clearOnComplete: true,
      });
      bar.start(total, 0, { what: '' });
      return { advance: (done, what) => bar.update(done, { what }), stop: () => bar.stop() };
    },
  };
}
