import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { nodeBinary } from './bootstrap.mjs';
import { run } from './children.mjs';
import { place } from './places.mjs';
import { say } from './say.mjs';

const mailSeconds = 20;

export const demoAccounts = [
  {
    email: 'operator@gatehouse.example',
    password: 'front-desk-demo',
    orgName: 'Front desk',
    operator: 'grant',
    note: 'operator, approves others at /operator',
  },
  {
    email: 'owner@larch.example',
    password: 'larch-and-sons-demo',
    orgName: 'Larch & Sons',
    operator: 'approve',
    note: 'Larch & Sons, approved',
  },
  {
    email: 'owner@harbour.example',
    password: 'harbour-lights-demo',
    orgName: 'Harbour Analytics',
    note: 'Harbour Analytics, waits for approval',
  },
];

/**
 * Makes the demo accounts through the doors that people use: sign-up, the link
 * in the mail, the operator's command line. Once for a data directory: a file,
 * which the sandbox's start page shows, lists those that are done. A failure is
 * told and stops nothing; what there is, is returned.
 */
export async function makeDemoAccounts({ port, environment, dataDir }) {
  const file = path.join(dataDir, 'sandbox', 'demo-accounts.json');
  const done = new Set(readDone(file));

  async function make(account) {
    try {
      await confirmAddress(port, account);
      if (account.operator) await operator([account.operator, account.email], environment);
      done.add(account.email);
    } catch (error) {
      say(`The demo account ${account.email} could not be made: ${error.message}`);
    }
  }
  const missing = demoAccounts.filter(({ email }) => !done.has(email));
  await Promise.all(missing.map(make));

  const made = demoAccounts.filter(({ email }) => done.has(email));
  if (missing.length > 0)
    fs.writeFileSync(file, JSON.stringify(made.map(({ email, password, note }) => ({ email, password, note }))));
  return made;
}

function readDone(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')).map(({ email }) => email);
  } catch {
    return [];
  }
}

async function confirmAddress(port, { email, password, orgName }) {
  const service = `http://localhost:${port}`;
  // An earlier start may have been ended after this and before its note.
  if ((await post(`${service}/api/login`, { email, password })).ok) return;

  const answer = await post(`${service}/api/signup`, { email, password, org_name: orgName });
  if (!answer.ok) throw new Error(`POST /api/signup answered ${answer.status}.`);
  // The password becomes valid only in the browser that signed up, known by its cookie.
  const cookie = answer.headers.getSetCookie().map((each) => each.split(';')[0]);
  const opened = await fetch(await verificationLink(port, email), { headers: { cookie: cookie.join('; ') } });
  if (!opened.ok) throw new Error(`the link in its mail answered ${opened.status}.`);
}

async function verificationLink(port, email) {
  const until = Date.now() + mailSeconds * 1000;
  while (Date.now() < until) {
    const answer = await fetch(`http://localhost:${port + 1}/mailbox/messages?to=${encodeURIComponent(email)}`);
    const messages = answer.ok ? await answer.json() : [];
    const link = messages.flatMap(({ links }) => links).find((address) => address.includes('/verify?token='));
    if (link) return link;
    await pause(100);
  }
  throw new Error(`no mail reached the mailbox within ${mailSeconds} s.`);
}

async function operator(args, environment) {
  const { code, output } = await run([nodeBinary(), place('apps/server/dist/operator.js'), ...args], environment);
  if (code !== 0) throw new Error(`operator ${args.join(' ')}: ${output.trim()}`);
}

function post(address, body) {
  return fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
