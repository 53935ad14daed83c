import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from '@gatehouse/sandbox/sandbox';
import type { Sql } from 'postgres';

const mailSeconds = 120;

export type Comparison = { text: string; isComplete: boolean };

/** Compares what was accepted with the rows of the database: nothing may be lost or doubled. */
export async function compareRows(sql: Sql, accepted: { signUps: string[]; events: string[] }): Promise<Comparison> {
  const users = await sql`select email from users where email = any(${accepted.signUps})`;
  const events = await sql`select id from payment_events where id = any(${accepted.events})`;
  return join(
    compare('sign-ups', accepted.signUps, tally(users.map(({ email }) => email))),
    compare('events', accepted.events, tally(events.map(({ id }) => id))),
  );
}

/** Waits until each address got a mail, then compares: none may be lost or doubled. */
export async function compareMails({ mailbox }: Sandbox, addresses: string[]): Promise<Comparison> {
  for (const deadline = Date.now() + mailSeconds * 1000; Date.now() < deadline; await pause(500)) {
    const mails = mailsTo(mailbox);
    if (addresses.every((address) => mails.has(address))) break;
  }
  return compare('mails', addresses, mailsTo(mailbox));
}

export function join(...parts: Comparison[]): Comparison {
  return { text: parts.map(({ text }) => text).join('; '), isComplete: parts.every(({ isComplete }) => isComplete) };
}

function mailsTo(mailbox: Sandbox['mailbox']): Map<string, number> {
  return tally(mailbox.messages().flatMap(({ to }) => to));
}

function tally(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function compare(what: string, accepted: string[], found: Map<string, number>): Comparison {
  const lost = accepted.filter((name) => !found.has(name)).length;
  const doubled = accepted.filter((name) => (found.get(name) ?? 0) > 1).length;
  return { text: `${what} ${accepted.length}, lost ${lost}, doubled ${doubled}`, isComplete: lost + doubled === 0 };
}
