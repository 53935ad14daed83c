// The program that a test starts (testing.ts): a service with stand-ins for its providers, whose clock the parent moves.
// It has no command and reads no variable: all that it gets comes over the channel to its parent, and it ends with that.
import type { Answer, Call, Calls } from './calls.ts';
import { checkEnvironment } from './check-environment.ts';
import { openEmptyDatabase } from './empty-database.ts';
import type { Running } from './running-service.ts';

const endsAtLatestMilliseconds = 20_000;

let starting: Promise<Running> | undefined;

if (process.send === undefined) {
  process.stderr.write('This program is part of @gatehouse/testing: call startGatehouse() in a test.\n');
  process.exit(1);
}
// Ctrl-C reaches every process of the terminal. The parent decides when this one ends.
process.on('SIGINT', () => {});
process.once('SIGTERM', end);
process.once('disconnect', end);
process.on('message', (call: Call) => void answer(call));
// The parent, which reads them, may have ended.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

async function answer({ id, name, input }: Call): Promise<void> {
  try {
    reply({ id, value: name === 'start' ? await start(input as never) : await call(name, input) });
  } catch (error) {
    reply({ id, error: error instanceof Error ? error.message : String(error) });
    if (name === 'start') await end();
  }
}

/** The service is loaded while the database is copied. */
async function start(environment: Record<string, string>): ReturnType<Calls['start']> {
  checkEnvironment(environment);
  const opening = openEmptyDatabase();
  opening.catch(() => {});
  starting = import('./running-service.ts').then(({ runService }) => runService(environment, opening));
  const { url, sandboxUrl } = await starting;
  return { url, sandboxUrl };
}

async function call(name: Exclude<Call['name'], 'start'>, input: unknown): Promise<unknown> {
  const running = await starting;
  return running?.calls[name](input as never);
}

function reply(sent: Answer): void {
  if (process.connected) process.send?.(sent);
}

/** Ends the process after a start that is under way, so that no database and no folder of it is left. */
async function end(): Promise<void> {
  setTimeout(() => process.exit(1), endsAtLatestMilliseconds).unref();
  const running = await starting?.catch(() => null);
  await running?.close();
  process.exit(0);
}
