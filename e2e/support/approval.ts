import { expect } from '@playwright/test';
import { cookiesOf, linkFor, newEmail, passPhrase } from './people.ts';
import { type Answer, send } from './raw-request.ts';
import type { Service } from './service.ts';

export type Approve = (email: string) => Promise<void>;

/** Approves by the admin command, which takes half a second of a processor. */
export function approvedByCommand(operator: Service['operator']): Approve {
  return async (email) => expect((await operator('approve', email)).stderr).toBe('');
}

/**
 * Approves by requests of an operator, who signs up at the first call. Saves a service that many tests
 * share the processes of the admin command.
 */
export function approvedByOperator(service: Service): Approve {
  let signedIn: Promise<string> | undefined;
  return async (email) => {
    signedIn ??= makeOperator(service);
    const headers = { 'content-type': 'application/json', cookie: await signedIn };
    const search = encodeURIComponent(JSON.stringify({ search: email }));
    const { waiting } = dataOf(await send(service, `/api/trpc/operators.queue?input=${search}`, { headers }));
    const organisation_ids = waiting.map(({ organisation }: { organisation: { id: string } }) => organisation.id);
    const body = JSON.stringify({ organisation_ids });
    dataOf(await send(service, '/api/trpc/operators.approve', { method: 'POST', headers, body }));
  };
}

async function makeOperator(service: Service): Promise<string> {
  const email = newEmail('approver');
  const headers = { 'content-type': 'application/json' };
  const ask = (path: string, fields: object) =>
    send(service, path, { method: 'POST', headers, body: JSON.stringify(fields) });
  const signedUp = await ask('/api/signup', { email, password: passPhrase, org_name: 'Approvals' });
  const link = new URL(await linkFor(service, email));
  await send(service, link.pathname + link.search, { headers: { cookie: cookiesOf(signedUp) } });
  expect((await service.operator('grant', email)).stderr).toBe('');
  return cookiesOf(await ask('/api/login', { email, password: passPhrase }));
}

function dataOf({ status, text }: Answer) {
  expect(status, text).toBe(200);
  return JSON.parse(text).result.data;
}
