import type { Config } from '@gatehouse/api/platform/config';
import { createLog, type Log } from '@gatehouse/api/platform/log';

/** Returns the log of the process itself, whose lines are written whatever LOG_LEVEL says. */
export function processLog({ log }: Config): Log {
  // The process that reads the output may end first. The error of a write must not interrupt the drain.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  return createLog({ ...log, level: 'info' });
}
