/**
 * gpt-oss-20b: gpt-oss-120b with 24 layers of 32 experts.
 */
import { gptOss } from './gpt-oss-120b.js';

export const gptOss20b = gptOss('gpt-oss-20b', 24, 32);
