import fs from 'node:fs';
import path from 'node:path';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, callerFor, makeInvitation, makeOwner } from '@gatehouse/api/testing/factories';
import type { Action } from '@sveltejs/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderedForField } from './rendered-for.ts';

const source = path.resolve(import.meta.dirname, '../..');

/**
 * The forms that act for no user (visitors, one-time links) or for the browser: any signed-in user may sign
 * out, and keep or delete the invitation in the cookie.
 */
const actionsWithoutUser =
  /^\/(login|login\/second-step|signup|password|verify|logout)(\?|$)|^\/invitation\?\/(signIn|signUp|forget)$/;
const formsWithoutUser =
  /^routes\/(login|logout|signup|password|verify)\/|\/(LanguageSwitch|SignOut|ThemeSwitch)\.svelte$/;

type Event = Parameters<Action>[0];
const modules = await Promise.all(
  fs.globSync('routes/**/+page.server.ts', { cwd: source }).map(async (file) => {
    const { actions = {} } = (await import(path.join(source, file))) as { actions?: Record<string, Action> };
    const page =
      path
        .dirname(file)
        .replace(/^routes/, '')
        .replaceAll(/\/\([^)]+\)/g, '') || '/';
    return Object.entries(actions).map(([name, action]) => [name === 'default' ? page : `${page}?/${name}`, action]);
  }),
);
const forUsers = (modules.flat() as [string, Action][]).filter(([name]) => !actionsWithoutUser.test(name));

let test: TestApp;
let owner: Awaited<ReturnType<typeof makeOwner>>;
let other: typeof owner;
let token: string;
beforeAll(async () => {
  test = await startTestApp();
  owner = await makeOwner(test, { operator: true });
  other = await makeOwner(test);
  token = await makeInvitation(owner);
});
afterAll(() => test.close());

function eventOf({ principal }: typeof owner, fields: Record<string, string>) {
  const url = new URL('/', 'http://localhost:3999');
  const locals = {
    app: test.app,
    principal,
    requestId: 'test',
    api: callerFor(test, principal),
    body: Buffer.from(String(new URLSearchParams(fields))),
  };
  const request = new Request(url, { method: 'POST', body: new URLSearchParams(fields) });
  const cookies = { get: () => undefined, set: () => {}, delete: () => {} };
  return { url, request, locals, cookies, params: {}, setHeaders: () => {} } as unknown as Event;
}

it('the pages have forms that act for a user', () => {
  expect(forUsers.length).toBeGreaterThan(35);
});

it.each(forUsers)('%s refuses a form of a page that was rendered for another user', async (_name, action) => {
  const answer = await action(eventOf(owner, { [renderedForField]: other.userId, token }));
  expect(answer).toMatchObject({
    status: 409,
    data: {
      outdated: true,
      error: `You are now signed in as ${owner.email}; this page was opened for another account. Nothing was changed.`,
    },
  });
});

const ofOrganisation = forUsers.filter(
  ([name]) =>
    /^\/(members|keys|billing|organisation)\?/.test(name) && !/^\/organisation\?\/(switch|create|withdraw)$/.test(name),
);

it.each(ofOrganisation)(
  '%s tells a viewer of the current organisation first that the page showed another',
  async (_name, action) => {
    const viewer = await addMember(test, owner.organisationId, 'viewer');
    const answer = await action(eventOf(viewer, { organisation_id: other.organisationId }));
    expect(answer).toMatchObject({
      status: 404,
      data: { outdated: true, error: 'You switched organisation in another tab. Nothing was changed.' },
    });
  },
);

describe('accepts the form', () => {
  const changeName = forUsers.find(([name]) => name === '/account?/changeName')?.[1] as Action;

  it.each([
    [
      'of a page that was rendered for the same user, in whichever session',
      () => ({ [renderedForField]: owner.userId }),
    ],
    ['of a program, which names no user', () => ({})],
  ])('%s', async (_case, fields) => {
    await expect(changeName(eventOf(owner, { ...fields(), name: 'Mia' }))).rejects.toMatchObject({ status: 303 });
  });
});

it('every form of a page for users names the user', () => {
  const forgotten = fs.globSync('**/*.svelte', { cwd: source }).filter((file) => {
    const markup = fs.readFileSync(path.join(source, file), 'utf8');
    // A button's value, where another button of the form is a GET: a field would be part of its address.
    const naming = markup.match(/<RenderedFor \/>|<Button[^>]*\bname=\{renderedForField\}/g) ?? [];
    return naming.length !== markup.split('method="POST"').length - 1;
  });
  expect(forgotten.filter((file) => !formsWithoutUser.test(file))).toEqual([]);
});
