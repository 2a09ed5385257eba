export * from './chart-spec.js';
export { charts } from './charts/index.js';
export { drawCharts } from './draw-charts.js';
export { type KeyFigure, keyFigures } from './key-figures.js';
export { chartConfig, type Theme, themes } from './page/chart-config.js';
export { formatValue, type Unit } from './page/format.js';
export { escapeHtml, figureHtml, pageHtml, reportHtml } from './report-html.js';
export { type PhaseRow, phaseRows, type Row, summaryTables, type Table } from './summary-table.js';
export { type TerminalLook, terminalSummary } from './terminal-summary.js';
