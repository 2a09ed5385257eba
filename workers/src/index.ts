/** Where the thread entries are, for those who start threads. */
export const shardEntry = new URL('./shard.js', import.meta.url);
