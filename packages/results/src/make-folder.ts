/** Folders for output, made one level at a time: some file systems never end a recursive call. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { RunFolderError } from './run-folder-error.js';

/** Makes `dir` and the folders above it. Throws RunFolderError `unwritable` with the reason when it cannot. */
export function makeFolder(dir: string): void {
  if (dir === '') throw new RunFolderError('unwritable', 'an empty name for a folder; name one');
  const missing: string[] = [];
  for (let at = resolve(dir); ; at = dirname(at)) {
    const found = kindOf(at);
    if (found === 'file') {
      throw new RunFolderError('unwritable', `${dir}: ${at} is a file, not a folder; name another folder`);
    }
    if (found === 'folder') break;
    missing.push(at);
  }
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      // Another process may have made it meanwhile.
      if (code === 'EEXIST') continue;
      throw new RunFolderError(
        'unwritable',
        `${dir}: cannot make the folder ${at}: ${code}; name another folder`,
      );
    }
  }
}

/** What stands at `path`; a path through a file is nothing. */
function kindOf(path: string): 'folder' | 'file' | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? (found.isDirectory() ? 'folder' : 'file') : null;
  } catch {
    return null;
  }
}
