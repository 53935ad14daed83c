import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, Calls, Duration, KeyScope, Mail, Seed, SeededOrganisation, SeededUser } from './calls.ts';
import { type Cookie, readSetCookie } from './cookie.ts';

export type { Role } from './calls.ts';
export type { Cookie, Duration, KeyScope, Mail, Seed, SeededOrganisation, SeededUser };

/** A signed-in user: `cookie` is the header for fetch, `cookies` are for addCookies of Playwright. */
export type SignedIn = { cookie: string; cookies: Cookie[] };

export type TestGatehouse = {
  /** The service's address, on this machine. */
  url: string;
  /** The stand-ins for the identity provider, the payment provider and the mailbox: /control, /idp, /mailbox. */
  sandboxUrl: string;
  /**
   * Makes approved organisations, each with an owner, a member for each of `members`, and a plan: its owner buys it at the
   * stand-in for the payment provider.
   *
   * @throws Error with the service's sentence, such as that a plan has no room for so many members.
   */
  seed: (wanted?: Seed) => Promise<SeededOrganisation[]>;
  /** Signs a user in with the password, by POST /api/login. @throws Error with the service's sentence. */
  signInAs: (user: Pick<SeededUser, 'email' | 'password'>) => Promise<SignedIn>;
  /** Creates an API key: of the whole deployment, unless `organisation` is the id of one. */
  createApiKey: (wanted?: { scope?: KeyScope; organisation?: string }) => Promise<string>;
  /** Returns the newest mail to an address. Waits for one, ten seconds at most. @throws Error if none has come. */
  mailTo: (address: string) => Promise<Mail>;
  /**
   * Moves the time of the service and of its payment provider forward: subscriptions renew and end, payments are tried
   * again. Then every scheduled job runs once. Returns the service's time, when all of it is done. The clock of the test's
   * own process stays as it is.
   *
   * @throws Error for less than nothing and more than five years.
   */
  advance: (by: Duration) => Promise<Date>;
  /** Ends the service, and removes its data. It also ends with the test's process. */
  stop: () => Promise<void>;
};

export type Options = {
  /**
   * Variables of the service, such as PLANS_FILE or RETURN_ORIGINS. HOST, and those of its database and its providers, are
   * set here. PORT is a free one by default.
   */
  environment?: Record<string, string>;
};

const program = fileURLToPath(new URL('../dist/program.js', import.meta.url));
const endMilliseconds = 30_000;

/**
 * Starts a Gatehouse with an empty database of its own, in a process that ends with this one. Several may run at the same
 * time. The first start on a machine prepares the database, which the others copy.
 *
 * @throws Error with a sentence that says why it cannot start; a PUBLIC_BASE_URL that is not of this machine is refused.
 */
export async function startGatehouse({ environment = {} }: Options = {}): Promise<TestGatehouse> {
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env;
  const own = { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, NODE_ENV: 'production' };
  const child = fork(program, [], {
    env: own,
    execArgv: ['--max-semi-space-size=8'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const call = callerOf(child);
  const { url, sandboxUrl } = await call('start', environment);

  return {
    url,
    sandboxUrl,
    seed: (wanted = {}) => call('seed', wanted),
    signInAs: (user) => signIn(url, user),
    createApiKey: (wanted = {}) => call('createApiKey', wanted),
    mailTo: (address) => call('mailTo', address),
    advance: async (by) => new Date(await call('advance', by)),
    stop: () => stop(child),
  };
}

/** Calls functions of the program. The test's process stays while a call runs, and ends while none does. */
function callerOf(child: ChildProcess) {
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer));
  child.once('exit', (code, signal) => {
    for (const [id, settle] of waiting) settle({ id, error: `The test's Gatehouse has ended (${signal ?? code}).` });
  });
  child.unref();
  child.channel?.unref();

  return async function call<Name extends keyof Calls>(
    name: Name,
    input: Parameters<Calls[Name]>[0],
  ): Promise<Awaited<ReturnType<Calls[Name]>>> {
    if (!child.connected) throw new Error("The test's Gatehouse has ended.");
    last += 1;
    const id = last;
    child.channel?.ref();
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve);
      child.send({ id, name, input }, (error) => error && resolve({ id, error: error.message }));
    });
    waiting.delete(id);
    if (waiting.size === 0) child.channel?.unref();
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value as Awaited<ReturnType<Calls[Name]>>;
  };
}

async function signIn(url: string, { email, password }: Pick<SeededUser, 'email' | 'password'>): Promise<SignedIn> {
  const response = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  if (!response.ok) throw new Error(`${email} cannot sign in: ${((await response.json()) as { error: string }).error}`);
  const cookies = response.headers.getSetCookie().map((line) => readSetCookie(line, new URL(url).hostname));
  return { cookies, cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') };
}

/** The program ends once its parent has disconnected, which is also what the end of this process does. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, 'exit');
  const timeout = setTimeout(() => child.kill('SIGKILL'), endMilliseconds);
  if (child.connected) child.disconnect();
  await ended;
  clearTimeout(timeout);
}
