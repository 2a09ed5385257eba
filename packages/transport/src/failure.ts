/** A cluster that cannot go on: Redis is gone, full or refuses us, or no worker is left. Says what and what to do. */
export class ClusterFailure extends Error {
  override readonly name = 'ClusterFailure';
}
