import { fstatSync, writeFileSync } from 'node:fs';
import type { App } from '@gatehouse/api/app';
import { createApp } from '@gatehouse/api/create-app';
import { type Config, parseConfig } from '@gatehouse/api/platform/config';
import { createLog } from '@gatehouse/api/platform/log';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { CommanderError } from 'commander';
import type { Answer, Needs } from './commands/answer.ts';
import { cliError } from './commands/cli-error.ts';
import { createProgram } from './commands/program.ts';
import { describeDatabase } from './database/describe-database.ts';
import { loadEnvFile } from './env-file.ts';

process.exit(await operate(process.argv.slice(2)));

/**
 * Runs an admin command and returns the exit code: 0 if it succeeded and its report is sound, 2
 * for wrong usage, else 1. The answer goes to stdout, the reason of a failure to stderr.
 */
async function operate(args: string[]): Promise<number> {
  let isSound = true;
  const program = createProgram(async (act, needs = {}) => {
    const warnings = loadEnvFile();
    const config = parseConfig(process.env);
    await withApp({ ...config, warnings: [...warnings, ...config.warnings] }, needs, async (app) => {
      const answer = await act(app);
      isSound = typeof answer === 'string' || !('sound' in answer) || answer.sound;
      for await (const text of textsOf(answer)) await print(process.stdout, text);
    });
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return isSound ? 0 : 1;
  } catch (error) {
    // Its text is printed already; --help and --version end with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    await print(process.stderr, `${cliError(error)}\n`);
    return 1;
  }
}

async function* textsOf(answer: Answer): AsyncGenerator<string> {
  if (typeof answer === 'string') yield `${answer}\n`;
  else if ('report' in answer) yield `${answer.report}\n`;
  else yield* answer;
}

/**
 * Resolves when the text is written: the end of the process would cut it off. A reader that ended first is no error.
 *
 * @throws Error if the text cannot be written, as on a full disk.
 */
async function print(stream: NodeJS.WriteStream & { fd: number }, text: string): Promise<void> {
  // The stream of a file takes a part of the text for all of it.
  if (fstatSync(stream.fd).isFile()) return writeFileSync(stream.fd, text);
  if (stream.listenerCount('error') === 0) stream.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    stream.write(text, (error) => (error && !isOfEndedReader(error) ? reject(error) : resolve()));
  });
}

/** Whether a text was not written because its reader ended, then or earlier. */
function isOfEndedReader(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
}

/**
 * Calls `act` with an app on DATABASE_URL or on the embedded database. A running embedded
 * database is joined; else one is started, and stopped afterwards.
 */
async function withApp(config: Config, needs: Needs, act: (app: App) => Promise<void>): Promise<void> {
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir) : null;
  const log = createLog({ level: 'warn', format: config.log.format, write: (line) => process.stderr.write(line) });
  try {
    const databaseUrl = embedded?.url ?? config.databaseUrl;
    const app = await createApp({
      config: { ...config, databaseUrl, databasePool: 2 },
      work: false,
      migrates: needs.migrates ?? false,
      withoutDatabase: needs.withoutDatabase ?? false,
      log,
    });
    try {
      // On stderr, because programs may read stdout.
      process.stderr.write(`${describeDatabase(config)}\n`);
      await act(app);
    } finally {
      await app.close();
    }
  } finally {
    if (embedded?.started) await embedded.stop();
  }
}
