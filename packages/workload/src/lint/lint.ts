/**
 * Lint of a workload before anyone trusts a result: each rule over a sample of batches, each finding once with the
 * place where it was seen first and how often.
 */
import type { TokenBatch } from '@epsim/spec';
import { type LintRuleName, lintRules, type RuleHit, type Severity } from './rules.js';
import { sampleSteps } from './sample.js';

export interface WorkloadFinding {
  readonly rule: LintRuleName;
  readonly severity: Severity;
  /** One sentence, with values and place. */
  readonly message: string;
  /** Step where it was seen first. */
  readonly step: number;
  /** Steps of the sample that show it, and steps looked at. */
  readonly seen: number;
  readonly of: number;
}

const order: readonly Severity[] = ['error', 'warning', 'note'];

/**
 * Findings on some batches, gravest first; none when nothing is wrong. Give all layers of a step that can be
 * afforded: rows that agree in several layers are told from chance. Choices are the recorded ones, else plain
 * top-k's; experts lie contiguously on as many ranks as a batch has.
 */
export function lintWorkload(
  batches: Iterable<TokenBatch>,
  options: { readonly topK: number },
): WorkloadFinding[] {
  const samples = sampleSteps(batches, options.topK);
  const findings: WorkloadFinding[] = [];
  for (const rule of Object.keys(lintRules) as LintRuleName[]) {
    const hits = samples.flatMap((sample) => {
      const hit: RuleHit | null = lintRules[rule].check(sample);
      return hit === null ? [] : [{ ...hit, step: sample.step }];
    });
    if (hits.length === 0) continue;
    const worst = hits.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))[0];
    findings.push({ rule, ...worst, seen: hits.length, of: samples.length });
  }
  return findings.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
}
