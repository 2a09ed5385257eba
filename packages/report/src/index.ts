export * from './chart-spec.js';
export { charts } from './charts/index.js';
export { comparisonHtml } from './comparison/html.js';
export { comparisonCharts } from './comparison/index.js';
export { ledgerMarkdown } from './comparison/ledger.js';
export { comparisonMarkdown } from './comparison/markdown.js';
export { type ComparisonTable, comparisonTables } from './comparison/table.js';
export { terminalComparison } from './comparison/terminal.js';
export { drawCharts } from './draw-charts.js';
export { journeyHtml } from './journey/journey-html.js';
export type { Beat, Scene } from './journey/page/scene.js';
export { journeyScenes } from './journey/page/scenes.js';
export {
  advanced,
  type Lengths,
  type Position,
  playingFrom,
  positionAt,
  stepped,
} from './journey/page/timeline.js';
export type * from './journey/scale.js';
export { contextMarkdown, mechanismsMarkdown, scaleCharts } from './journey/scale.js';
export { terminalJourney } from './journey/terminal.js';
export type * from './journey/trace.js';
export { journeyTraceSchema } from './journey/trace.js';
export { trainingCharts } from './journey/training-charts.js';
export { type KeyFigure, keyFigures } from './key-figures.js';
export { markdownTable } from './markdown.js';
export { chartConfig } from './page/chart-config.js';
export { formatValue, type Unit } from './page/format.js';
export { type Theme, themes } from './page/theme.js';
export { escapeHtml, figureHtml, pageHtml } from './page-html.js';
export { planCharts } from './plan/index.js';
export type * from './plan/plan-source.js';
export { reportHtml } from './report-html.js';
export { type StudyLines, type StudySource, studyCharts } from './study/index.js';
export { type PhaseRow, phaseRows, type Row, summaryTables, type Table } from './summary-table.js';
export { carriedBy, type TerminalLook, terminalSummary } from './terminal-summary.js';
export { validationCharts } from './validation/index.js';
export type { ScoredTable } from './validation/predicted-measured.js';
