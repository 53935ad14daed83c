import type { Config } from '@gatehouse/api/platform/config';

export type Announce = (level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void;

/** Returns a function that writes the process's own log lines, in the format of the service's log. */
export function announcer(config: Config): Announce {
  // The process that reads the output may end first. The error of a write must not interrupt the drain.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});

  return (level, message, fields = {}) => {
    const time = new Date().toISOString();
    const line =
      config.log.format === 'json'
        ? JSON.stringify({ time, level, message, ...fields })
        : `${time.slice(11, 19)} ${level.padEnd(5)} ${message}`;
    process.stdout.write(`${line}\n`);
  };
}
