import { createHmac, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openWorld, subscriptionOf, webhookSecret } from './speed/world.ts';

/*
 * Measures which source files run for each of four requests, and compares them with the lists in
 * docs/architecture.md. Exits with 1 if a list lacks a file or names one that did not run.
 */
const prefix = 'The prefix of every request';
/** The walks, each with the lists that it shares with others. */
const walks = {
  'POST /api/signup': [prefix],
  'GET /auth/idp/callback': [prefix],
  'POST /webhooks/payment': [prefix],
  'GET /api/subscription': [prefix, 'A request with a session'],
};
/** Files that the lists leave out, because their names say what they do. */
const below =
  /^packages\/api\/src\/((db|jobs|providers|security|telemetry|changes)\/|(errors|links|config|log|create-app|job-kinds)\.ts)/;
const document = fs.readFileSync(path.resolve(import.meta.dirname, '../../../docs/architecture.md'), 'utf8');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-walks-'));
const record = path.join(folder, 'files.jsonl');
process.env.BENCH_NODE_OPTIONS = `--import=${path.join(import.meta.dirname, 'walks/record-files.ts')}`;
process.env.WALKS_FILE = record;

/** How often each request is sent. */
const times = 4;

let claims: object = {};
const tokens = createServer((_, response) => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const id_token = `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`;
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id_token }));
});
await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
const provider = `http://127.0.0.1:${(tokens.address() as AddressInfo).port}`;

const world = await openWorld({
  IDP_CLIENT_ID: 'bench',
  IDP_CLIENT_SECRET: 'bench',
  IDP_AUTH_URL: `${provider}/auth`,
  IDP_TOKEN_URL: `${provider}/token`,
  IDP_ISSUERS: provider,
});
try {
  for (let time = 0; time < times; time++) {
    await signUp();
    await signInAtProvider();
    await changeTier(time);
    await readSubscription(time);
  }
} finally {
  await world.close();
  tokens.close();
}

async function ask(target: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(world.product.origin + target, { redirect: 'manual', ...init });
  await answer.arrayBuffer();
  // Work that continues after an answer belongs to no request.
  await pause(1000);
  if (answer.status >= 400) throw new Error(`${target} answered ${answer.status}.`);
  return answer;
}

function post(target: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return ask(target, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
}

async function signUp(): Promise<void> {
  const body = { email: `${randomUUID()}@company.example`, password: 'a long pass phrase', org_name: 'Company' };
  await post('/api/signup', JSON.stringify(body));
}

async function signInAtProvider(): Promise<void> {
  const start = await ask('/auth/idp/start');
  const { searchParams } = new URL(start.headers.get('location') ?? '');
  const seconds = Math.floor(Date.now() / 1000);
  const person = {
    sub: randomUUID(),
    email: `${randomUUID()}@company.example`,
    email_verified: true,
    name: 'A Person',
  };
  claims = {
    iss: provider,
    aud: 'bench',
    iat: seconds,
    exp: seconds + 60,
    nonce: searchParams.get('nonce'),
    ...person,
  };
  const cookie = start.headers.getSetCookie().map((line) => line.split(';')[0]);
  const query = new URLSearchParams({ state: searchParams.get('state') ?? '', code: 'code' });
  const answer = await ask(`/auth/idp/callback?${query}`, { headers: { cookie: cookie.join('; ') } });
  if (answer.headers.get('location') !== '/') throw new Error('The sign-in through the identity provider failed.');
}

async function changeTier(owner: number): Promise<void> {
  const text = JSON.stringify(subscriptionOf(world.owners[owner]?.subscriptionId ?? '', 1));
  const object = JSON.parse(text.replaceAll('silver', 'gold'));
  const created = Math.floor(Date.now() / 1000);
  const type = 'customer.subscription.updated';
  const event = { id: `evt_${randomUUID()}`, object: 'event', type, created, livemode: false, data: { object } };
  const body = JSON.stringify(event);
  const signature = createHmac('sha256', webhookSecret).update(`${created}.${body}`).digest('hex');
  await post('/webhooks/payment', body, { 'payment-signature': `t=${created},v1=${signature}` });
}

async function readSubscription(owner: number): Promise<void> {
  await ask('/api/subscription', { headers: { cookie: `session=${world.owners[owner]?.session}` } });
}

const lines = fs.readFileSync(record, 'utf8').trim().split('\n');
fs.rmSync(folder, { recursive: true });
const measured = lines.map((line) => JSON.parse(line) as { what: string; files: string[] });
/**
 * Returns the files that run for a request each time. The first time does not count, because it also runs what is
 * created once. A timer that fires during one request belongs to none.
 */
const filesOf = (what: string) => {
  const [, second, ...others] = measured.filter((line) => line.what === what);
  return (second?.files ?? []).filter((file) => others.every(({ files }) => files.includes(file)));
};
const namedIn = (title: string) => {
  const section = document.split(`### ${title}\n`)[1]?.split('\n#')[0] ?? '';
  const list = section.split('\n').filter((line) => /^(\d+\. | {3})/.test(line));
  return [...list.join('\n').matchAll(/`([\w./+-]+\.ts)`/g)].map(([, name = '']) => name);
};
const isNamed = (file: string, names: string[]) => names.some((name) => `/${file}`.endsWith(`/${name}`));

/** Prints the files of a walk after those that it shares with others, and where the lists in the document differ. */
for (const [what, entries] of Object.entries(walks)) {
  const files = filesOf(what).filter((file) => !below.test(file));
  const own = namedIn(what);
  const after = files.filter((file) => isNamed(file, own) || !entries.some((title) => isNamed(file, namedIn(title))));
  const missing = after.filter((file) => !isNamed(file, own));
  const extra = [own, ...entries.map(namedIn)].flat().filter((name) => !files.some((file) => isNamed(file, [name])));

  console.log(`\n${what}: ${after.length} files of its own, ${files.length} in all`);
  for (const title of entries) console.log(`  ${namedIn(title).length} of: ${title}`);
  for (const file of after) console.log(`  ${missing.includes(file) ? 'not in the document: ' : ''}${file}`);
  for (const name of extra) console.log(`  did not run: ${name}`);
  if (missing.length + extra.length > 0) process.exitCode = 1;
}
