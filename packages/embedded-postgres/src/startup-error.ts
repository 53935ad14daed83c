/** Turns the output of PostgreSQL or initdb into a sentence that says what to do. */
export function explainOutput(output: string, dataDir: string): string {
  if (/No space left on device|ENOSPC/.test(output))
    return `There is no space left on the disk of DATA_DIR (${dataDir}).`;
  if (/wrong ownership|Permission denied|EACCES|EPERM/.test(output)) return explainAccess(dataDir);
  if (/lock file "postmaster.pid" already exists/.test(output)) {
    return `DATA_DIR (${dataDir}) is in use by a PostgreSQL that cannot be reached from here: stop what started it first.`;
  }

  const lines = output.trim().split('\n');
  const last = lines.findLast((line) => /FATAL|PANIC|ERROR:|error:/.test(line)) ?? lines.at(-1) ?? '';
  return `PostgreSQL printed: ${last.replace(/^.*?(FATAL|PANIC|ERROR|error):\s*/, '') || 'nothing'}. More in ${dataDir}/postgres.log.`;
}

/** Whether the start failed over files of another server, which may still be shutting down. */
export function isBlocked(output: string): boolean {
  return /lock file|shared memory/i.test(output);
}

/** Returns the sentence for a data directory that cannot be used. */
export function explainFolder({ code = '', message }: NodeJS.ErrnoException, dataDir: string): string {
  if (code === 'ENOSPC') return explainOutput(message, dataDir);
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return explainAccess(dataDir);

  return `DATA_DIR (${dataDir}) cannot be used (${code}): set it to a folder of your own.`;
}

function explainAccess(dataDir: string): string {
  return `DATA_DIR (${dataDir}) belongs to another user or cannot be written: run Gatehouse as its owner, or set DATA_DIR to a folder of your own.`;
}
