import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestApp } from '@gatehouse/api/testing/app';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';
import { spread } from './speed/spread.ts';

// Measures whether response times reveal that an address has an account. For every route that takes an address it
// calls an unknown and a known address in pairs, in random order within the pair; the known addresses take turns, so
// that each state of an account occurs. It prints the difference of the medians with its 95 % confidence interval
// (bootstrap over the pairs, so that what slows both calls of a pair down does not widen it). The times are not
// distinguishable if the whole interval lies within 0.5 ms. BENCH_PAIRS shortens a run.

const pairs = Number(process.env.BENCH_PAIRS ?? 2000);
const limitMilliseconds = 0.5;
const resamples = 2000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const database = await openEmbedded(folder, { settings: { fsync: 'off' }, createDatabases: true });
process.env.TEST_DATABASE_URL = database.url;
const { startTestApp } = await import('@gatehouse/api/testing/app');
const factories = await import('@gatehouse/api/testing/factories');
const { declineOwner, suspendUser } = await import('@gatehouse/api/testing/admin-commands');
const { addTotp } = await import('@gatehouse/api/testing/factors');
const { matchUser } = await import('@gatehouse/api/auth/sign-in/match-user');

const test = await startTestApp({ work: true });
const { accounts, signIn } = factories.callerFor(test, null);
const states = await createStates(test);
let indistinguishable = true;

type Call = (email: string) => Promise<unknown>;
const wrongPassword: Call = (email) => signIn.withPassword({ email, password: 'not the pass phrase' });

for (const [route, call] of Object.entries<Call>({
  'sign-in': wrongPassword,
  'sign-up': (email) => accounts.signUp({ email, password: 'another pass phrase', org_name: `Others ${newAddress()}` }),
  resend: (email) => accounts.resend({ email }),
})) {
  await compare({ route, call, known: states, of: ['known', 'unknown'], other: newAddress });
}

// Who has not given the right password learns nothing of factors.
const [plain = '', ...withFactor] = await Promise.all([false, true, true].map((has) => makeActive(has)));
const known = Object.fromEntries(withFactor.map((email, index) => [`account ${index + 1}`, email]));
await compare({ route: 'factor', call: wrongPassword, known, of: ['with', 'without'], other: () => plain });

type Comparison = {
  route: string;
  call: Call;
  /** The addresses of which each call takes the next, by name. */
  known: Record<string, string>;
  /** The words for the two sides. */
  of: [known: string, other: string];
  other: () => string;
};

/** Times a route for the known addresses beside the others, and prints whether they differ. */
async function compare({ route, call, known, of: [knownWord, otherWord], other }: Comparison): Promise<void> {
  const names = Object.keys(known);
  const time = async (email: string) => {
    const started = performance.now();
    await call(email).catch(() => {});
    return performance.now() - started;
  };
  for (let each = 0; each < 20; each++) await time(other());

  const times: Pair[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const email = known[names[pair % names.length] ?? ''] ?? '';
    const isKnownFirst = Math.random() < 0.5;
    const first = await time(isKnownFirst ? email : other());
    const second = await time(isKnownFirst ? other() : email);
    times.push(isKnownFirst ? { known: first, unknown: second } : { known: second, unknown: first });
  }

  const [low, high] = intervalOf(times);
  const isWithin = low >= -limitMilliseconds && high <= limitMilliseconds;
  indistinguishable &&= isWithin;
  console.log(
    `${route.padEnd(8)} ${knownWord} less ${otherWord} ${signed(differenceOf(times))} ms, 95 % interval ${signed(low)} to ${signed(high)} ms ` +
      `(${pairs} pairs, ${otherWord} ${spread(times.map(({ unknown }) => unknown)).median.toFixed(1)} ms): ` +
      `${isWithin ? 'not distinguishable' : low > 0 || high < 0 ? 'DIFFERENT' : 'not decided'} within ${limitMilliseconds} ms`,
  );
  for (const [index, name] of names.entries()) {
    const own = times.filter((_, pair) => pair % names.length === index);
    console.log(`         ${name.padEnd(13)} ${signed(differenceOf(own))} ms`);
  }
}

await test.close();
await database.stop();
fs.rmSync(folder, { recursive: true, force: true });
process.exitCode = indistinguishable ? 0 : 1;

async function createStates(at: TestApp): Promise<Record<string, string>> {
  const declined = await factories.makeOwner(at, { approved: false });
  await declineOwner(at.app, declined.email, 'Not a customer.');
  const suspended = await factories.makeOwner(at);
  await suspendUser(at.app, suspended.email);
  const identity = factories.makeIdentity({ email: newAddress() });
  await at.app.db.transaction((tx) => matchUser(at.app, tx, identity, factories.testClient));
  return {
    unverified: (await factories.makeSignUp(at)).email,
    awaiting: (await factories.makeOwner(at, { approved: false })).email,
    active: (await factories.makeOwner(at)).email,
    declined: declined.email,
    suspended: suspended.email,
    'identity only': identity.email,
  };
}

/** Creates an active owner, with an authenticator app if asked. */
async function makeActive(hasFactor: boolean): Promise<string> {
  const { email, api } = await factories.makeOwner(test);
  if (hasFactor) await addTotp(test, api);
  return email;
}

function newAddress(): string {
  return `${randomBytes(6).toString('hex')}@company.example`;
}

type Pair = { known: number; unknown: number };

function differenceOf(times: Pair[]): number {
  return spread(times.map(({ known }) => known)).median - spread(times.map(({ unknown }) => unknown)).median;
}

/** Returns the 95 % interval of the difference of the medians, by the percentiles of the differences of resampled pairs. */
function intervalOf(times: Pair[]): [low: number, high: number] {
  const differences = Array.from({ length: resamples }, () =>
    differenceOf(times.map(() => times[Math.floor(Math.random() * times.length)] as Pair)),
  ).sort((one, other) => one - other);
  const at = (part: number) => differences[Math.floor(part * (resamples - 1))] ?? Number.NaN;
  return [at(0.025), at(0.975)];
}

function signed(milliseconds: number): string {
  return `${milliseconds >= 0 ? '+' : ''}${milliseconds.toFixed(2)}`;
}
