import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestApp } from '@gatehouse/api/testing/app';
import { openEmbedded } from '@gatehouse/embedded-postgres/embedded-postgres';

// Measures whether response times reveal that an address has an account. For every route that takes an
// address it calls an unknown address and one of each state in random order, many times, and compares the
// medians. An observer on the same network could detect a difference of about one millisecond.

const rounds = 150;
const limitMilliseconds = 1;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
const database = await openEmbedded(folder, { settings: { fsync: 'off' }, createDatabases: true });
process.env.TEST_DATABASE_URL = database.url;
const { startTestApp } = await import('@gatehouse/api/testing/app');
const factories = await import('@gatehouse/api/testing/factories');
const { declineOwner, suspendUser } = await import('@gatehouse/api/testing/admin-commands');
const { matchUser } = await import('@gatehouse/api/sign-in/match-user');

const test = await startTestApp({ work: true });
const { accounts, signIn } = factories.callerFor(test, null);
const states = await createStates(test);
let worst = 0;

for (const [route, call] of Object.entries({
  'sign-in': (email: string) => signIn.withPassword({ email, password: 'not the pass phrase' }),
  'sign-up': (email: string) =>
    accounts.signUp({ email, password: 'another pass phrase', org_name: `Others ${newAddress()}` }),
  resend: (email: string) => accounts.resend({ email }),
})) {
  const times: Record<string, number[]> = Object.fromEntries(
    ['unknown', ...Object.keys(states)].map((name) => [name, []]),
  );
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffled(Object.keys(times))) {
      const email = name === 'unknown' ? newAddress() : (states[name] ?? '');
      const started = performance.now();
      await call(email).catch(() => {});
      times[name]?.push(performance.now() - started);
    }
  }

  const unknown = median(times.unknown ?? []);
  for (const name of Object.keys(states)) {
    const difference = median(times[name] ?? []) - unknown;
    worst = Math.max(worst, Math.abs(difference));
    console.log(
      `${route.padEnd(8)} ${name.padEnd(13)} ${difference >= 0 ? '+' : ''}${difference.toFixed(2)} ms of ${unknown.toFixed(1)} ms`,
    );
  }
}
console.log(
  `largest difference ${worst.toFixed(2)} ms; ratio to the limit of ${limitMilliseconds} ms: ${(worst / limitMilliseconds).toFixed(2)}`,
);

await test.close();
await database.stop();
fs.rmSync(folder, { recursive: true, force: true });

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

function newAddress(): string {
  return `${randomBytes(6).toString('hex')}@company.example`;
}

function shuffled<Item>(items: Item[]): Item[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
