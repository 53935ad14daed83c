import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isRunning } from '@gatehouse/embedded-postgres/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGatehouse, type TestGatehouse } from './testing.ts';

const cache = path.join(os.tmpdir(), `gatehouse-testing-${os.userInfo().uid}`);
let gatehouse: TestGatehouse;
let other: TestGatehouse;

beforeAll(async () => {
  [gatehouse, other] = await Promise.all([startGatehouse(), startGatehouse()]);
});
afterAll(async () => {
  await Promise.all([gatehouse.stop(), other.stop()]);
});

/** Asks the service as a user, or with an API key. */
async function ask(target: string, headers: Record<string, string>, { url }: TestGatehouse = gatehouse) {
  const response = await fetch(url + target, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: answers of the API, which its own tests know.
  return { status: response.status, body: (await response.json()) as any };
}

it('seeds approved organisations with members, who are signed in, and a plan that the owner has bought', async () => {
  const [acme, birch] = await gatehouse.seed({
    organisations: ['Acme', 'Birch'],
    members: ['admin', 'viewer'],
    plan: 'silver',
  });
  expect(acme).toMatchObject({ slug: 'acme', name: 'Acme', owner: { role: 'owner' } });
  expect(birch?.members.map(({ role }) => role)).toEqual(['admin', 'viewer']);

  for (const [user, scopes] of [
    [acme?.owner, ['READ', 'WRITE', 'ADMIN']],
    [acme?.members[0], ['READ', 'WRITE', 'ADMIN']],
    [acme?.members[1], ['READ']],
  ] as const) {
    if (user === undefined) throw new Error('A user is missing.');
    const { cookie } = await gatehouse.signInAs(user);
    expect((await ask('/api/session', { cookie })).body).toEqual({
      user: { id: user.id, email: user.email, name: null },
      organisation: { id: acme?.id, slug: 'acme', name: 'Acme', tier: 'silver' },
      role: user.role,
      scopes,
    });
  }
  const { cookie } = await gatehouse.signInAs(acme?.owner ?? { email: '', password: '' });
  expect((await ask('/api/subscription', { cookie })).body).toMatchObject({
    plan: { tier: 'silver', status: 'active' },
    usage: [{ meter: 'members', used: 3 }, {}, {}],
  });
  const page = await fetch(`${gatehouse.url}/members`, { headers: { cookie } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(acme?.members[1]?.email ?? '')]);
});

it('refuses with the sentence of the service', async () => {
  await expect(gatehouse.seed({ members: ['member', 'member'] })).rejects.toThrow(/members/);
  await expect(gatehouse.seed({ plan: 'bronze' })).rejects.toThrow('Choose the Silver or Gold plan.');
  await expect(gatehouse.signInAs({ email: 'nobody@company.example', password: 'wrong' })).rejects.toThrow(
    'nobody@company.example cannot sign in: E-mail or password is wrong.',
  );
});

it('gives the mail that the service sends', async () => {
  const email = 'new@company.example';
  const body = JSON.stringify({ email, password: 'a long enough pass phrase', org_name: 'New' });
  await fetch(`${gatehouse.url}/api/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const mail = await gatehouse.mailTo(email);
  expect(mail.to).toEqual([email]);
  expect(mail.links.some((link) => link.startsWith(`${gatehouse.url}/verify?token=`))).toBe(true);
});

it('moves time: a card is declined at the renewal, and when the days of grace have passed a job ends the plan', async () => {
  const [{ id, owner } = { id: '', owner: { email: '', password: '' } }] = await gatehouse.seed({ plan: 'gold' });
  const authorization = `Bearer ${await gatehouse.createApiKey({ organisation: id })}`;
  const first = await gatehouse.signInAs(owner);
  const planNow = async () => {
    const { cookie } = await gatehouse.signInAs(owner);
    return (await ask('/api/subscription', { cookie })).body.plan;
  };
  const changes = async (after = '') => (await ask(`/api/changes?${after}`, { authorization })).body;
  await declineCardOf(id);

  await gatehouse.advance({ days: 32 });
  // A session lasts 30 days.
  expect((await ask('/api/session', { cookie: first.cookie })).status).toBe(401);
  expect(await planNow()).toMatchObject({ tier: 'gold', status: 'past_due' });

  const { next } = await changes();
  const now = await gatehouse.advance({ days: 8 });
  expect(Math.round((now.getTime() - Date.now()) / 86_400_000)).toBe(40);
  expect(await planNow()).toMatchObject({ tier: 'free', status: 'past_due' });
  // Only the job that decides plans by time records it.
  expect((await changes(`after=${next}`)).changes).toMatchObject([{ type: 'plan.changed', data: { tier: 'free' } }]);
  const deliveries = (await (await fetch(`${gatehouse.sandboxUrl}/control/deliveries`)).json()) as { state: string }[];
  expect(deliveries.filter(({ state }) => state !== 'delivered')).toEqual([]);
  await expect(gatehouse.advance({ days: -1 })).rejects.toThrow('Time is moved forward');
});

/** Gives the customer of an organisation a card that is declined, by the control page of the stand-in. */
async function declineCardOf(organisation: string): Promise<void> {
  const state = (await (await fetch(`${gatehouse.sandboxUrl}/control/state`)).json()) as {
    customers: Record<string, { id: string; metadata: Record<string, string> }>;
  };
  const customer = Object.values(state.customers).find(({ metadata }) => metadata.organisation === organisation)?.id;
  const response = await fetch(`${gatehouse.sandboxUrl}/control/card`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer, card: '4000000000000341' }),
  });
  expect(response.status).toBe(200);
}

it('runs two at the same time, each with data and a clock of its own', async () => {
  const authorization = `Bearer ${await other.createApiKey()}`;
  expect((await ask('/api/organisations', { authorization }, other)).body.organisations).toEqual([]);
  const managing = `Bearer ${await other.createApiKey({ scope: 'MANAGE' })}`;
  expect((await ask('/api/users', { authorization: managing }, other)).body.users).toEqual([]);
  expect(Math.abs((await other.advance({})).getTime() - Date.now())).toBeLessThan(60_000);
});

it('refuses what is not of this machine, and a database that is not its own, and leaves nothing behind', async () => {
  const programs = programsOf(process.pid);
  const before = abandonedCopies();
  const refused = Object.entries({
    PUBLIC_BASE_URL: 'https://id.company.example',
    HOST: '0.0.0.0',
    DATABASE_URL: 'postgres://db.company.example/gatehouse',
  });
  await Promise.all(
    refused.map(([name, value]) =>
      expect(startGatehouse({ environment: { [name]: value } })).rejects.toThrow(new RegExp(`${name} is `)),
    ),
  );
  await expect.poll(() => programsOf(process.pid)).toEqual(programs);
  expect(abandonedCopies().filter((copy) => !before.includes(copy))).toEqual([]);
});

it('leaves nothing running and no data when it is stopped', async () => {
  const programs = programsOf(process.pid);
  const before = copies().filter((copy) => programs.some((pid) => copy.startsWith(`copy-${pid}-`)));
  const servers = before.map(serverOf);
  expect(before).toHaveLength(2);

  await Promise.all([gatehouse.stop(), other.stop()]);
  expect([...programs, ...servers].filter(isRunning)).toEqual([]);
  expect(copies().filter((copy) => before.includes(copy))).toEqual([]);
  await expect(gatehouse.seed()).rejects.toThrow('has ended');
});

it('leaves nothing running and no data when the process of the test is killed', async () => {
  const built = new URL('../dist/testing.js', import.meta.url).href;
  const script = `const { startGatehouse } = await import(${JSON.stringify(built)});
    await startGatehouse();
    console.log('started');
    setInterval(() => {}, 1000);`;
  const test = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(test.stdout, 'data');
  const [program = 0] = programsOf(test.pid ?? 0);
  const copy = copies().find((name) => name.startsWith(`copy-${program}-`)) ?? '';
  const server = serverOf(copy);
  expect([program, server].filter(isRunning)).toHaveLength(2);

  test.kill('SIGKILL');
  await expect.poll(() => [program, server].filter(isRunning)).toEqual([]);
  expect(fs.existsSync(path.join(cache, copy))).toBe(false);
});

function copies(): string[] {
  return fs.readdirSync(cache).filter((name) => name.startsWith('copy-'));
}

/** Copies whose program has ended. Those of running programs may be another test's. */
function abandonedCopies(): string[] {
  return copies().filter((copy) => !isRunning(Number(/^copy-(\d+)-/.exec(copy)?.[1])));
}

/** The process of PostgreSQL on a copy. */
function serverOf(copy: string): number {
  return Number.parseInt(fs.readFileSync(path.join(cache, copy, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** The programs that a process has started by `startGatehouse`. */
function programsOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'ppid=,pid=,args='], { encoding: 'utf8' }).split('\n');
  return rows.flatMap((row) => {
    const [, parent, child, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [];
    return Number(parent) === pid && command.includes('testing/dist/program.js') ? [Number(child)] : [];
  });
}
