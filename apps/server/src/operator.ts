import { fileURLToPath } from 'node:url';
import type { App } from '@gatehouse/api/app';
import { type Config, parseConfig } from '@gatehouse/api/config';
import { createApp } from '@gatehouse/api/create-app';
import { createLog } from '@gatehouse/api/log';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { cliError } from './commands/cli-error.ts';
import { type Call, parseCommandLine, WrongUse } from './commands/parse-args.ts';
import { describeDatabase } from './describe-database.ts';
import { loadEnvFile } from './env-file.ts';

const migrations = fileURLToPath(new URL('../../../packages/api/src/db/migrations', import.meta.url));

process.exit(await operate(process.argv.slice(2)));

/**
 * The exit code: 0 only when it was done and nothing is wrong, 2 for what is no command.
 * The answer goes to stdout, the sentence that says why not to stderr.
 */
async function operate(typed: string[]): Promise<number> {
  try {
    const call = parseCommandLine(typed);
    loadEnvFile();
    const answer = await withApp(parseConfig(process.env), call, (app) => call.command.run(app, call.args));
    const { report, sound } = typeof answer === 'string' ? { report: answer, sound: true } : answer;
    process.stdout.write(`${report}\n`);
    return sound ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${cliError(error)}\n`);
    return error instanceof WrongUse ? 2 : 1;
  }
}

/** On DATABASE_URL, or on the embedded database: a living one is joined, else one is started and stopped again. */
async function withApp<Answer>(config: Config, { command }: Call, act: (app: App) => Promise<Answer>): Promise<Answer> {
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir) : null;
  const log = createLog({ level: 'warn', format: config.log.format, write: (line) => process.stderr.write(line) });
  try {
    const databaseUrl = embedded?.url ?? config.databaseUrl;
    const app = await createApp({
      config: { ...config, databaseUrl, databasePool: 2 },
      migrations,
      work: false,
      withoutDatabase: command.withoutDatabase ?? false,
      log,
    });
    try {
      // On stderr, because a command's answer may be read by a program.
      process.stderr.write(`${describeDatabase(config)}\n`);
      return await act(app);
    } finally {
      await app.close();
    }
  } finally {
    if (embedded?.started) await embedded.stop();
  }
}
