/** A run folder cannot be used: `code` says why, the message says where and what to do. A mistake of the user, not of ours. */
export class RunFolderError extends Error {
  override readonly name = 'RunFolderError';
  constructor(
    readonly code: 'exists' | 'not-a-run' | 'damaged' | 'unwritable',
    message: string,
  ) {
    super(message);
  }
}
