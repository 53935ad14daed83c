import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const mailSeconds = 20;

const demoAccounts = [
  {
    email: 'operator@gatehouse.example',
    orgName: 'Front desk',
    operator: 'grant',
    note: 'operator, approves others at /operator',
  },
  {
    email: 'owner@larch.example',
    orgName: 'Larch & Sons',
    operator: 'approve',
    note: 'Larch & Sons, approved',
  },
  {
    email: 'owner@harbour.example',
    orgName: 'Harbour Analytics',
    note: 'Harbour Analytics, awaits approval',
  },
];

/**
 * Creates the demo accounts once per data directory, by sign-up, the link in the mail and admin commands.
 * `file` lists the accounts that exist with their passwords, for the sandbox's start page; `passwordsOf`
 * returns the passwords by address, and `operator` runs an admin command and resolves to its output. A
 * failure is passed to `log` and does not throw. Returns the accounts that exist.
 */
export async function createDemoAccounts({ port, file, passwordsOf, writePrivate, operator, log }) {
  const done = new Map(readDone(file).map((account) => [account.email, account.password]));
  const passwords = passwordsOf(demoAccounts.map(({ email }) => email));

  async function make({ email, orgName, operator: command }) {
    const password = passwords[email];
    try {
      if (done.has(email)) {
        await replacePassword(port, { email, password }, operator);
      } else {
        await confirmAddress(port, { email, password, orgName });
        await operator(['mark-demo-account', email]);
        if (command) await operator([command, email]);
      }
      done.set(email, password);
    } catch (error) {
      log(`The demo account ${email} could not be created: ${error.message}`);
    }
  }
  const missing = demoAccounts.filter(({ email }) => done.get(email) !== passwords[email]);
  await Promise.all(missing.map(make));

  const made = demoAccounts
    .filter(({ email }) => done.has(email))
    .map(({ email, note }) => ({ email, password: done.get(email), note }));
  if (missing.length > 0) writePrivate(file, made);
  return made;
}

function readDone(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

/** Sets the account's current password, which is a new one after the file of the secrets was removed. */
async function replacePassword(port, { email, password }, operator) {
  const [, token] = /token=([\w-]+)/.exec(await operator(['password-link', email])) ?? [];
  const answer = await post(`http://localhost:${port}/api/trpc/accounts.setPassword`, { token, password });
  if (!answer.ok) throw new Error(`setting its new password answered ${answer.status}.`);
}

async function confirmAddress(port, { email, password, orgName }) {
  const service = `http://localhost:${port}`;
  // An earlier start may have ended after the sign-up and before it wrote the file.
  if ((await post(`${service}/api/login`, { email, password })).ok) return;

  const answer = await post(`${service}/api/signup`, { email, password, org_name: orgName });
  if (!answer.ok) throw new Error(`POST /api/signup answered ${answer.status}.`);
  // The link makes the password valid only in the browser that signed up, which its cookies identify.
  const cookie = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
  // The public host of the link may be one that only browsers resolve.
  const { pathname, search } = new URL(await verificationLink(port, email));
  const opened = await fetch(service + pathname + search, { headers: { cookie: cookie.join('; ') } });
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

function post(address, body) {
  return fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
