import type { JourneyTrace } from './trace.js';
export function journeyHtml(trace: JourneyTrace): string {
  return `<pre>${trace.model}</pre>`;
}
