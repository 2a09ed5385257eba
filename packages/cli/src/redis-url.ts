/**
 * Which Redis the user means, and with what caution. The address may hold a password: it is passed on and never
 * shown. EPSIM_REDIS_URL keeps it out of the list of processes.
 */
import { UsageError } from './failure.js';

/** Throws UsageError, in one line with how to get one, when no Redis is named or the address is none. */
export async function redisUrl(given: string | undefined, note: (text: string) => void): Promise<string> {
  const url = given ?? process.env.EPSIM_REDIS_URL;
  if (url === undefined || url === '') {
    throw new UsageError(
      '--redis: no address; write --redis redis://host:port or set EPSIM_REDIS_URL (Debian: apt-get install redis-server; macOS: brew install redis)',
    );
  }
  const { addressOf, clearTextWarning } = await import('@epsim/transport/redis');
  try {
    const warning = clearTextWarning(addressOf(url));
    if (warning !== null) note(warning);
  } catch (thrown) {
    throw new UsageError(`--redis: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
  return url;
}
