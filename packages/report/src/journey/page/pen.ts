/**
 * Drawing on a canvas in CSS pixels: words, boxes, cells, bars and arrows in the page's colours.
 * Knows nothing of what is drawn. One of the modules that run inside the page; it imports nothing.
 */

export interface Palette {
  readonly card: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  /** The followed token. */
  readonly glow: string;
  /** The miniature, and the model at full size. */
  readonly mini: string;
  readonly full: string;
  readonly good: string;
  /** Colours of parts that stand side by side. */
  readonly parts: readonly string[];
  /** Below and above zero. */
  readonly negative: readonly [number, number, number];
  readonly positive: readonly [number, number, number];
  readonly zero: readonly [number, number, number];
}

export const palettes: { readonly light: Palette; readonly dark: Palette } = {
  light: {
    card: '#ffffff',
    text: '#1c2733',
    muted: '#5f6b78',
    line: '#d5dce3',
    glow: '#d55e00',
    mini: '#0072b2',
    full: '#7a4bb5',
    good: '#008060',
    parts: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#8c6d31'],
    negative: [213, 94, 0],
    positive: [0, 90, 160],
    zero: [238, 242, 246],
  },
  dark: {
    card: '#151b22',
    text: '#e4e9ee',
    muted: '#9aa7b4',
    line: '#33404c',
    glow: '#ff9a5c',
    mini: '#56b4e9',
    full: '#b99af0',
    good: '#2bc79c',
    parts: ['#56b4e9', '#f0c541', '#2bc79c', '#e59ac2', '#8fd0ff', '#c9a86a'],
    negative: [255, 148, 84],
    positive: [96, 186, 240],
    zero: [30, 38, 47],
  },
};

export interface Pen {
  readonly g: CanvasRenderingContext2D;
  /** CSS pixels across. */
  readonly width: number;
  readonly wide: boolean;
  readonly colours: Palette;
}

export interface WordLook {
  readonly size?: number;
  readonly colour?: string;
  readonly align?: 'left' | 'center' | 'right';
  readonly bold?: boolean;
  readonly mono?: boolean;
  readonly alpha?: number;
}

const SANS = "Inter, system-ui, 'Segoe UI', Roboto, sans-serif";
const MONO = 'ui-monospace, Menlo, Consolas, monospace';

/** One line of text, its baseline at y. */
export function words(pen: Pen, x: number, y: number, text: string, look: WordLook = {}): void {
  const { g } = pen;
  g.globalAlpha = look.alpha ?? 1;
  g.font = `${look.bold ? 600 : 400} ${look.size ?? 13}px ${look.mono ? MONO : SANS}`;
  g.fillStyle = look.colour ?? pen.colours.text;
  g.textAlign = look.align ?? 'left';
  g.fillText(text, x, y);
  g.globalAlpha = 1;
}

export interface BoxLook {
  readonly fill?: string;
  readonly stroke?: string;
  readonly radius?: number;
  readonly alpha?: number;
  readonly thick?: number;
}

export function box(pen: Pen, x: number, y: number, w: number, h: number, look: BoxLook): void {
  const { g } = pen;
  g.globalAlpha = look.alpha ?? 1;
  g.beginPath();
  g.roundRect(x, y, Math.max(0, w), Math.max(0, h), look.radius ?? 0);
  if (look.fill !== undefined) {
    g.fillStyle = look.fill;
    g.fill();
  }
  if (look.stroke !== undefined) {
    g.strokeStyle = look.stroke;
    g.lineWidth = look.thick ?? 1;
    g.stroke();
  }
  g.globalAlpha = 1;
}

export function lineTo(
  pen: Pen,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
  colour: string,
  look: { readonly thick?: number; readonly dash?: readonly number[]; readonly arrow?: boolean } = {},
): void {
  const { g } = pen;
  g.strokeStyle = colour;
  g.lineWidth = look.thick ?? 1;
  g.setLineDash([...(look.dash ?? [])]);
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x2, y2);
  g.stroke();
  g.setLineDash([]);
  if (look.arrow !== true) return;
  const angle = Math.atan2(y2 - y1, x2 - x1);
  g.fillStyle = colour;
  g.beginPath();
  g.moveTo(x2, y2);
  for (const turn of [2.7, -2.7]) g.lineTo(x2 + 7 * Math.cos(angle + turn), y2 + 7 * Math.sin(angle + turn));
  g.fill();
}

/** The token itself, with its glow. */
export function dot(pen: Pen, x: number, y: number, radius = 6): void {
  const { g, colours } = pen;
  g.fillStyle = colours.glow;
  g.globalAlpha = 0.25;
  g.beginPath();
  g.arc(x, y, radius * 2, 0, 2 * Math.PI);
  g.fill();
  g.globalAlpha = 1;
  g.beginPath();
  g.arc(x, y, radius, 0, 2 * Math.PI);
  g.fill();
}

/** The colour of `value` between -scale and scale. */
export function shade(pen: Pen, value: number, scale: number): string {
  const { zero, positive, negative } = pen.colours;
  const at = Math.min(1, Math.abs(value) / (scale || 1)) ** 0.6;
  const end = value < 0 ? negative : positive;
  const [r, g, b] = [0, 1, 2].map((i) => Math.round(zero[i] + (end[i] - zero[i]) * at));
  return `rgb(${r},${g},${b})`;
}

/** A matrix as coloured cells, row-major, `columns` a row. */
export function cells(
  pen: Pen,
  x: number,
  y: number,
  size: { readonly w: number; readonly h: number },
  values: readonly number[],
  columns: number,
  scale: number,
): void {
  const gap = Math.min(size.w, size.h) >= 6 ? 1 : 0;
  values.forEach((value, i) => {
    pen.g.fillStyle = shade(pen, value, scale);
    pen.g.fillRect(
      x + (i % columns) * size.w,
      y + Math.floor(i / columns) * size.h,
      size.w - gap,
      size.h - gap,
    );
  });
}

/** A small heading above something drawn, as large as fits between x and the right edge. */
export function heading(pen: Pen, x: number, y: number, text: string, colour = pen.colours.muted): void {
  const size = Math.min(12, (12 * (pen.width - x)) / widthOf(pen, text, 12, true));
  words(pen, x, y, text, { size, colour, bold: true });
}

/** CSS pixels that a text takes. */
export function widthOf(pen: Pen, text: string, size: number, bold = false): number {
  pen.g.font = `${bold ? 600 : 400} ${size}px ${SANS}`;
  return pen.g.measureText(text).width;
}

/** Says in the picture whose figures stand here. */
export function ownerTag(pen: Pen, y: number, text: string, kind: 'mini' | 'full'): void {
  const colour = pen.colours[kind];
  const w = widthOf(pen, text, 11.5, true) + 16;
  box(pen, 0.5, y + 0.5, w, 20, { stroke: colour, radius: 10, thick: 1.5 });
  words(pen, 8, y + 14.5, text, { size: 11.5, colour, bold: true });
}

/** 0 before `from`, 1 after `to`, smooth in between. */
export function part(fraction: number, from = 0, to = 1): number {
  const at = Math.min(1, Math.max(0, (fraction - from) / (to - from)));
  return at * at * (3 - 2 * at);
}

export function between(a: number, b: number, at: number): number {
  return a + (b - a) * at;
}

export function largestOf(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}
