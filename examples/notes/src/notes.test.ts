import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGatehouse, type Gatehouse, GatehouseError } from '@gatehouse/client';
import { startGatehouse, type TestGatehouse } from '@gatehouse/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { notesApp } from './app.ts';
import { correctMeters } from './create-note.ts';
import { followDeletions } from './follow-changes.ts';
import { openStore } from './store.ts';

const origin = 'http://localhost:3003';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'notes-'));
let service: TestGatehouse;
let gatehouse: Gatehouse;
let notes: ReturnType<typeof notesApp>;

// One Gatehouse for all tests: each seeds an organisation of its own.
beforeAll(async () => {
  const plans = fileURLToPath(new URL('../plans.json', import.meta.url));
  service = await startGatehouse({ environment: { PLANS_FILE: plans, RETURN_ORIGINS: origin } });
  gatehouse = createGatehouse({ url: service.url, apiKey: await service.createApiKey({ scope: 'WRITE' }) });
  notes = notesApp({ gatehouse, store: openStore(path.join(folder, 'notes.json')), origin });
});
afterAll(async () => {
  await gatehouse.close();
  await service.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

function addNote(cookie: string, text: string) {
  const headers = { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' };
  return notes.request('/notes', { method: 'POST', headers, body: new URLSearchParams({ text }).toString() });
}

it('sends a visitor to sign-in, and back', async () => {
  const answer = await notes.request(`${origin}/`, { headers: { accept: 'text/html' } });
  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe(`${service.url}/login?return_to=${encodeURIComponent(`${origin}/`)}`);
});

it('shows a note to the organisation alone, and takes none from a viewer', async () => {
  const [acme, birch] = await service.seed({ organisations: ['Acme', 'Birch'], members: ['viewer'] });
  if (acme?.members[0] === undefined || birch === undefined) throw new Error('There are too few organisations.');
  const [owner, viewer, stranger] = [
    await service.signInAs(acme.owner),
    await service.signInAs(acme.members[0]),
    await service.signInAs(birch.owner),
  ];
  expect((await addNote(owner.cookie, 'Buy milk')).status).toBe(302);
  expect((await addNote(viewer.cookie, 'Buy tea')).status).toBe(403);

  const pageOf = async ({ cookie }: { cookie: string }) => (await notes.request('/', { headers: { cookie } })).text();
  expect(await pageOf(viewer)).toContain('Buy milk');
  expect(await pageOf(stranger)).not.toContain('Buy milk');
});

it.each([
  [undefined, [302, 302, 302, 403]],
  ['silver', [302, 302, 302, 302]],
])('with the plan %s answers four notes with %j', async (plan, statuses) => {
  const [company] = await service.seed(plan === undefined ? {} : { plan });
  const { cookie } = await service.signInAs(company?.owner ?? { email: '', password: '' });
  const answers = [];
  for (const text of ['one', 'two', 'three', 'four']) answers.push((await addNote(cookie, text)).status);
  expect(answers).toEqual(statuses);
});

it('corrects the meter of an organisation without notes', async () => {
  const [company] = await service.seed();
  const organisation = company?.id ?? '';
  expect(await gatehouse.usage.reserve({ organisation, meter: 'notes' })).toMatchObject({ used: 1 });
  await correctMeters(gatehouse, openStore(path.join(folder, 'empty.json')));
  const entitlements = await gatehouse.entitlements.get(organisation);
  expect(entitlements.usage.find(({ meter }) => meter === 'notes')).toMatchObject({ used: 0 });
});

it('asks for a sign-in again once the session has ended', async () => {
  const [company] = await service.seed();
  const { cookie } = await service.signInAs(company?.owner ?? { email: '', password: '' });
  expect((await notes.request('/', { headers: { cookie } })).status).toBe(200);
  await service.advance({ days: 31 });
  expect((await notes.request('/', { headers: { cookie, accept: 'text/html' } })).status).toBe(302);
});

it('deletes a note also while its meter cannot be lowered', async () => {
  const [company] = await service.seed();
  const { cookie } = await service.signInAs(company?.owner ?? { email: '', password: '' });
  await addNote(cookie, 'Buy milk');
  const page = async () => (await notes.request('/', { headers: { cookie } })).text();
  const [path = ''] = /\/notes\/[\w-]+\/delete/.exec(await page()) ?? [];

  const away = new GatehouseError(0, 'UNREACHABLE', 'Gatehouse cannot be reached.');
  vi.spyOn(gatehouse.usage, 'release').mockRejectedValueOnce(away);
  expect((await notes.request(path, { method: 'POST', headers: { cookie, origin } })).status).toBe(302);
  expect(await page()).not.toContain('Buy milk');
});

it('forgets what was deleted while no changes were read', async () => {
  const [company] = await service.seed({ members: ['member'] });
  const organisation = company?.id ?? '';
  const { members } = await gatehouse.members.list({ organisation });
  const user = members[0]?.user ?? { id: '' };
  const store = openStore(path.join(folder, 'restored.json'));
  store.add({ id: '1', organisation, author: user.id, text: 'kept' });
  store.add({ id: '2', organisation, author: randomUUID(), text: 'of who was deleted' });
  store.add({ id: '3', organisation: randomUUID(), author: user.id, text: 'of an organisation that was deleted' });
  const following = followDeletions(gatehouse, store);
  await vi.waitFor(() => expect(store.counts()).toEqual(new Map([[organisation, 2]])), 30_000);
  await vi.waitFor(() => expect(store.of(organisation).map(({ author }) => author)).toEqual([null, user.id]), 30_000);
  await following.close();
});

it('starts while Gatehouse is away', async () => {
  const NOTES_FILE = path.join(folder, 'stored.json');
  openStore(NOTES_FILE).add({ id: 'n', organisation: 'o', author: null, text: 'Buy milk' });
  const env = { ...process.env, GATEHOUSE_URL: 'http://127.0.0.1:9', NOTES_PORT: '0', NOTES_FILE };
  const child = spawn(process.execPath, [fileURLToPath(new URL('server.ts', import.meta.url))], { env });
  const ended = once(child, 'exit');
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      printed += text;
    });
  }
  try {
    await vi.waitFor(() => expect(printed).toContain('Notes is up'), 30_000);
    await vi.waitFor(() => expect(printed).toContain('Meters could not be corrected:'), 30_000);
    expect(child.exitCode).toBe(null);
  } finally {
    child.kill();
    await ended;
  }
});
