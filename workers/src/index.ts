/** Where the thread entries are, for those who start threads. */
export type { PointWork } from './point.js';
export const shardEntry = new URL('./shard.js', import.meta.url);
export const pointEntry = new URL('./point.js', import.meta.url);
