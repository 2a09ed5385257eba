/**
 * What no single field of a `plan` can know: requests against the model's context, drafts against its prediction
 * layers, objectives against what they need to be known.
 */
import type { ClusterSpec } from './cluster-spec.js';
import type { ModelShape } from './model-shape.js';
import type { Reader } from './reader.js';
import type { PlanRequest } from './scenario-nouns.js';

export function checkPlan(
  to: Reader,
  { requests, objectives, engine, dollarsPerHour }: PlanRequest,
  model: ModelShape,
  cluster: ClusterSpec,
): void {
  const refuse = (path: string, kind: string, subject: string, value: string, help: string) =>
    to.report(['plan', ...path.split('.')], { kind, subject, value, help });
  const tokens = requests.inputTokens + requests.outputTokens;
  if (tokens > model.contextTokens) {
    const value = `${requests.inputTokens} + ${requests.outputTokens}`;
    const help = `${model.name} takes ${model.contextTokens} tokens in all; lower inputTokens or outputTokens`;
    refuse('requests.inputTokens', 'too many', 'tokens', value, help);
  }
  if (requests.ratePerSec !== null && requests.users !== null) {
    const value = `${requests.ratePerSec} requests/s and ${requests.users} users`;
    refuse('requests.users', 'conflicting', 'load', value, 'each says how much is asked; write one of them');
  }
  if (engine.mtpLayers > 0 && model.mtpLayerCount === 0) {
    const help = `${model.name} has none; write 0`;
    refuse('engine.mtpLayers', 'unknown', 'prediction layers', String(engine.mtpLayers), help);
  }
  if (engine.acceptedTokens > 1 + engine.mtpLayers) {
    const help = `a step yields 1 token and one for each of ${engine.mtpLayers} mtpLayers at most; lower it, or raise mtpLayers`;
    refuse('engine.acceptedTokens', 'too many', 'tokens', String(engine.acceptedTokens), help);
  }
  if (
    objectives.costPerMillionTokens !== null &&
    (dollarsPerHour ?? cluster.dollarsPerHour ?? null) === null
  ) {
    const help = 'nobody said what an accelerator costs; write plan.dollarsPerHour: 4 $/h';
    refuse(
      'objectives.costPerMillionTokens',
      'unknown',
      'price',
      String(objectives.costPerMillionTokens),
      help,
    );
  }
  if (objectives.watts === null) return;
  if (cluster.device.watts === undefined) {
    const help = `the power of ${cluster.device.name} is not known; leave the objective out`;
    refuse('objectives.power', 'unknown', 'power', `${objectives.watts} W`, help);
  }
  if (requests.ratePerSec === null && requests.users === null) {
    const help =
      'power is that of a fleet, and a fleet needs a load; write plan.requests.ratePerSec or users';
    refuse('objectives.power', 'missing', 'load', `${objectives.watts} W`, help);
  }
}
