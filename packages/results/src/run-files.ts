/** Names of the files of a run folder. */
export const runFiles = {
  summary: 'summary.json',
  records: 'records.jsonl',
  scenario: 'scenario.resolved.yaml',
  timings: 'timings.json',
  expertLoad: 'expert-load.csv',
  rankTraffic: 'rank-traffic.csv',
  linkUse: 'link-use.csv',
  trace: 'trace.json',
  report: 'report.html',
} as const;
