/**
 * gpt-oss-20b: gpt-oss-120b with 24 layers of 32 experts.
 */
import { gptOss } from './gpt-oss-120b.js';
import { MULTIPLIED, type PublishedCounts, WHOLE } from './published-counts.js';

export const gptOss20b = gptOss('gpt-oss-20b', 24, 32);

export const gptOss20bCounts: PublishedCounts = {
  total: { figure: '20.91 B', holds: WHOLE },
  active: { figure: '3.61 B', holds: MULTIPLIED },
  source: 'gpt-oss model card, OpenAI, 2025-08',
};
