/** Options that every workload with drawn scores takes, whatever its popularity comes from. */
import { z } from 'zod';
import type { TopicOptions } from './layer-scores.js';

export const topicSchema = z
  .strictObject({
    count: z.int().min(1).max(4096).default(16).describe('topics that requests are about, equally often'),
    strength: z.number().min(0).max(4).default(0.3).describe('spread of what a topic adds to scores'),
    tokensPerRequest: z.int().min(1).default(8).describe('consecutive tokens of a rank that share a topic'),
  })
  .describe('tokens of one request lean to the same experts; strength is in units of the noise of tokens');

export const perRankSchema = z
  .number()
  .min(0)
  .max(4)
  .describe('spread of what the data of one rank adds to scores, in units of the noise of tokens');

export const noTopics: TopicOptions = { count: 1, strength: 0, tokensPerRequest: 1 };

/** Sentences about topics and rank differences; none when both are off. */
export function describeLeanings(topics: TopicOptions, perRank: number): string[] {
  const sentences: string[] = [];
  if (topics.strength > 0) {
    const { tokensPerRequest } = topics;
    sentences.push(
      `${tokensPerRequest === 1 ? 'each token is' : `requests of ${tokensPerRequest} tokens are`} about one of ${topics.count} topics, which add ` +
        `${topics.strength} of the noise to scores`,
    );
  }
  if (perRank > 0) sentences.push(`the data of each rank adds ${perRank} of the noise to scores`);
  return sentences;
}
