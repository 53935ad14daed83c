import { fileURLToPath } from 'node:url';
import { type App, createApp } from '@gatehouse/api/app';
import { type Config, parseConfig } from '@gatehouse/api/config';
import { isRefusal } from '@gatehouse/api/errors';
import { createLog, describeError } from '@gatehouse/api/log';
import { commands, usage } from './commands/commands.ts';
import { openEmbedded } from './embedded-postgres.ts';

const migrations = fileURLToPath(new URL('../../../packages/api/src/db/migrations', import.meta.url));

process.exit(await operate(process.argv.slice(2)));

/** The exit code: 0 only when it was done and nothing is wrong. The answer goes to stdout, a refusal's sentence to stderr. */
async function operate([name = '', ...args]: string[]): Promise<number> {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined || args.length < command.least) {
    process.stderr.write(`${usage()}\n`);
    return 2;
  }

  try {
    const answer = await withApp(parseConfig(process.env), (app) => command.run(app, args));
    const { report, sound } = typeof answer === 'string' ? { report: answer, sound: true } : answer;
    process.stdout.write(`${report}\n`);
    return sound ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${isRefusal(error) || isConfigError(error) ? error.message : describeError(error)}\n`);
    return 1;
  }
}

function isConfigError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ConfigError';
}

/** On DATABASE_URL, or on the embedded database: a living one is joined, else one is started and stopped again. */
async function withApp<Answer>(config: Config, act: (app: App) => Promise<Answer>): Promise<Answer> {
  const embedded = config.databaseUrl === null ? await openEmbedded(config.dataDir) : null;
  const log = createLog({ level: 'warn', format: config.log.format, write: (line) => process.stderr.write(line) });
  try {
    const databaseUrl = embedded?.url ?? config.databaseUrl;
    const app = await createApp({ config: { ...config, databaseUrl, databasePool: 2 }, migrations, work: false, log });
    try {
      return await act(app);
    } finally {
      await app.close();
    }
  } finally {
    if (embedded?.started) await embedded.stop();
  }
}
