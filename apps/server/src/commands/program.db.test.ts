import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestApp, type TestApp } from '@gatehouse/api/testing/app';
import { addMember, makeAccount, makeOwner } from '@gatehouse/api/testing/factories';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProgram } from './program.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** Returns what the command prints, on stdout or, after a failure, on stderr. */
async function run(...typed: string[]): Promise<string> {
  let printed = '';
  const program = createProgram(async (act) => {
    const answer = await act(test.app).catch((error: Error) => error.message);
    if (typeof answer === 'string') printed = answer;
    else if ('report' in answer) printed = answer.report;
    else {
      printed = '';
      for await (const text of answer) printed += text;
      printed = printed.trimEnd();
    }
  });
  await program.parseAsync(typed, { from: 'user' });
  return printed;
}

it('each command prints the new state, and is idempotent', async () => {
  const { email, principal } = await makeOwner(test);
  const slug = principal.organisation?.slug ?? '';

  expect(await run('approve', email)).toBe(`Already approved: ${slug}.`);
  expect(await run('decline', email, '--reason', 'No.')).toBe(`${slug} is not waiting for a decision.`);
  expect(await run('grant', email)).toBe(`${email} is an operator.`);
  expect(await run('grant', email)).toBe(`${email} is an operator.`);
  expect(await run('list')).toBe(email);
  expect(await run('revoke', email)).toBe(`${email} is no longer an operator.`);
  expect(await run('revoke', email)).toBe(`${email} is no operator.`);
  expect(await run('list')).toBe('There are no operators.');
  expect(await run('suspend', email)).toBe(`Suspended ${email}.`);
  expect(await run('suspend', email)).toBe(`${email} is suspended already.`);
  expect(await run('password-link', email)).toBe(`The account of ${email} is closed.`);
  expect(await run('grant', email)).toBe(`The account of ${email} is closed.`);
  expect(await run('restore', email)).toBe(`Restored ${email}.`);
  expect(await run('restore', email)).toBe(`${email} is not suspended.`);
  expect(await run('password-link', email)).toMatch(/^http\S+$/);
  expect(await run('suspend-organisation', slug)).toBe(`Suspended ${slug}.`);
  expect(await run('suspend-organisation', slug)).toBe(`${slug} is suspended already.`);
  expect(await run('approve', email)).toBe(`${slug} is suspended: restore-organisation opens it again.`);
  expect(await run('restore-organisation', slug)).toBe(`Restored ${slug}.`);
  expect(await run('restore-organisation', slug)).toBe(`${slug} is not suspended.`);
  expect(await run('mark-demo-account', email)).toMatch(
    /^(.* is a demo account|Demo accounts belong to npm start.*)\.$/,
  );
});

it('a decision about an owner prints the organisation', async () => {
  const approved = await makeOwner(test, { approved: false });
  const declined = await makeOwner(test, { approved: false });

  expect(await run('approve', approved.email)).toBe(`Approved ${approved.principal.organisation?.slug}.`);
  expect(await run('decline', declined.email, '--reason', 'No.')).toBe(
    `Declined ${declined.principal.organisation?.slug}.`,
  );
  // What was decided before is not named again.
  const owner = await makeOwner(test);
  await owner.api.organisations.create({ org_name: 'Second Weir' });
  expect(await run('decline', owner.email, '--reason', 'No.')).toBe('Declined second-weir.');
  const { email } = await makeAccount(test);
  expect(await run('approve', email)).toBe(`${email} owns no organisation.`);
});

it('users and organisations are listed and found by a part of their names, in JSON too', async () => {
  const { email, principal } = await makeOwner(test, { name: 'Rarely Named Ltd' });
  const slug = principal.organisation?.slug ?? '';

  expect(await run('users', email.slice(0, -3))).toMatch(new RegExp(`^${email}  active  ${slug} \\(owner\\)  since `));
  expect(await run('organisations', 'rarely')).toMatch(
    new RegExp(`^${slug}  approved  free  ${email}  since .*Named Ltd$`),
  );
  expect(JSON.parse(await run('organisations', '--json', 'rarely'))).toMatchObject([{ slug, owner: email }]);
  expect(JSON.parse(await run('users', email, '--json'))).toMatchObject([{ email }]);
  expect((await run('users')).split('\n').length).toBeGreaterThan(1);
  expect(JSON.parse(await run('list', '--json'))).toEqual([]);
  expect(JSON.parse(await run('api-key', 'list', '--json'))).toEqual(expect.any(Array));
  expect(await run('users', 'no-such-person')).toBe('There are no such users.');
  expect(JSON.parse(await run('users', 'no-such-person', '--json'))).toEqual([]);
});

it('any number of users is listed, each once, a page at a time', async () => {
  await test.app.sql`
    insert into users (id, email, created_at)
    select gen_random_uuid(), 'many-' || n || '@many.example', now() from generate_series(1, 2500) as n`;
  const rows: { email: string }[] = JSON.parse(await run('users', '@many.example', '--json'));
  expect(new Set(rows.map(({ email }) => email)).size).toBe(2500);
  expect((await run('users', '@many.example')).split('\n')).toHaveLength(2500);
  await test.app.sql`delete from users where email like '%@many.example'`;
});

it('the members of all JSON are in snake_case', async () => {
  const { email } = await makeOwner(test);
  const commands = [['users', email], ['organisations'], ['list'], ['api-key', 'list'], ['reconcile'], ['doctor']];
  for (const command of commands) {
    const names = [...(await run(...command, '--json')).matchAll(/"(\w+)":/g)].map(([, name]) => name);
    expect(names.filter((name) => /[A-Z]/.test(name ?? ''))).toEqual([]);
  }
  expect(await run('reconcile', '--json')).toContain('"left_out"');
});

it('what the log names a user by is in the JSON', async () => {
  const { email, userId } = await makeOwner(test);
  expect(JSON.parse(await run('users', email, '--json'))).toMatchObject([{ log_id: test.app.pseudonymOf(userId) }]);
});

it('a user’s data are exported and erased, also while the account awaits approval', async () => {
  const { email, principal } = await makeOwner(test, { approved: false });
  const slug = principal.organisation?.slug ?? '';

  expect(JSON.parse(await run('export', email))).toMatchObject({ user: { email }, organisations: [{ slug }] });
  expect(await run('erase', email)).toBe(`Erased ${email}, and with the account ${slug}.`);
  expect(await run('export', email)).toBe(`There is no account with the address ${email}.`);

  const owner = await makeOwner(test);
  await addMember(test, owner.organisationId, 'member');
  expect(await run('erase', owner.email)).toMatch(/has other members\. Make one of them an owner first\.$/);
  expect(await run('erase', owner.email, '--with-members')).toMatch(/^Erased/);
});

it('sessions end for one person or for all', async () => {
  const [{ email, userId }, other] = [await makeOwner(test), await makeOwner(test)];
  const left = async (id: string) => (await test.app.sql`select from sessions where user_id = ${id}`).length;
  expect(await run('end-sessions')).toBe('Name one EMAIL, or --all.');
  expect(await run('end-sessions', email, '--all')).toBe('Name one EMAIL, or --all.');
  expect(await run('end-sessions', email)).toBe(`Ended one session of ${email}.`);
  expect([await left(userId), await left(other.userId)]).toEqual([0, 1]);
  expect(await run('end-sessions', '--all')).toMatch(/^Ended (one session|\d+ sessions) of all users\.$/);
  expect(await left(other.userId)).toBe(0);
});

it('an unknown address or slug fails with a sentence that repeats it', async () => {
  for (const name of [
    'export',
    'erase',
    'end-sessions',
    'grant',
    'revoke',
    'approve',
    'suspend',
    'restore',
    'password-link',
    'reset-second-factor',
    'mark-demo-account',
  ]) {
    expect(await run(name, 'unknown@company.example')).toBe(
      'There is no account with the address unknown@company.example.',
    );
  }
  for (const name of ['suspend-organisation', 'restore-organisation', 'new-customer']) {
    expect(await run(name, 'unknown')).toBe('There is no organisation with the slug unknown.');
  }
});

it('an API key is printed once, listed without its secret and revoked', async () => {
  const { principal } = await makeOwner(test);
  const slug = principal.organisation?.slug ?? '';
  const key = await run('api-key', 'create', '--name', 'Worker', '--scope', 'WRITE', '--organisation', slug);
  expect(key).toMatch(/^gh_test_[\w-]{43}_[\w-]{6}$/);
  const listed = (await run('api-key', 'list')).split('\n').find((line) => line.includes('Worker')) ?? '';
  expect(listed).toMatch(`valid  ${slug}  READ WRITE  ${key.slice(0, 12)}…${key.slice(-4)}  used never  expires never`);
  expect(listed).not.toContain(key);

  const [id = ''] = listed.split(' ');
  expect(await run('api-key', 'revoke', id)).toBe(`Revoked ${id}.`);
  expect(await run('api-key', 'revoke', id)).toBe('There is no such API key.');
  expect(await run('api-key', 'revoke', 'x')).toBe('There is no API key with the id x.');
  expect(await run('api-key', 'create', '--name', 'a', '--scope', 'ADMIN')).toBe('The scope is READ, WRITE or MANAGE.');
  expect(await run('api-key', 'create', '--name', 'a', '--expires-days', 'soon')).toMatch(/^The days must be/);
  for (const slug of ['unknown', '']) {
    expect(await run('api-key', 'create', '--name', 'a', '--organisation', slug)).toMatch(/^There is no organisation/);
  }
});

it('an address is found regardless of case and spaces', async () => {
  const { email } = await makeOwner(test);
  expect(await run('suspend', ` ${email.toUpperCase()} `)).toBe(`Suspended ${email}.`);
});

it('an override is stated by name, in place of the one before, and says what changes nothing', async () => {
  const { principal } = await makeOwner(test);
  const slug = principal.organisation?.slug ?? '';
  const override = (...typed: string[]) => run('override', slug, ...typed);

  expect(await override('--end')).toBe(`${slug} has no override.`);
  expect(await override('--tier', 'gold')).toBe('Say why.');
  expect(await override('--reason', 'By contract.')).toBe('Choose a tier, a limit, a feature or days of grace.');
  expect(await override('--tier', 'gold', '--until', '2020-01-31', '--reason', 'By contract.')).toBe(
    'Choose a date that is still to come.',
  );
  expect(await override('--tier', 'gold', '--until', 'soon', '--reason', 'By contract.')).toBe(
    'Enter a date, such as 2027-01-31.',
  );
  const given = ['--tier', 'silver', '--limit', 'projects=1', '--limit', 'members=none', '--feature', 'audit_log=true'];
  expect(await override(...given, '--grace-days', '14', '--until', '2099-01-31', '--reason', 'By contract.')).toBe(
    [
      `Set the override of ${slug}.`,
      'Changes nothing now, because the plan gives as much: limit projects.',
      'Changes nothing now, because the plan gives as much: feature audit_log.',
    ].join('\n'),
  );
  expect(await run('organisations', slug)).toContain(`${slug}  approved  silver`);
  for (const other of [
    ['--tier', 'gold'],
    ['--limit', 'projects=1'],
    ['--feature', 'sso=true'],
    ['--reason', 'x'],
  ]) {
    expect(await override('--end', ...other)).toBe('Name what was agreed, or --end.');
  }
  expect(await override('--end')).toBe(`Ended the override of ${slug}.`);
  expect(await run('organisations', slug)).toContain(`${slug}  approved  free`);
});

it.each([
  ['a folder', 'src', /src is a folder: name a file of lines\.$/],
  ['no file', 'absent.jsonl', /absent\.jsonl cannot be read\.$/],
])('an import of %s is refused with a sentence', async (_, name, sentence) => {
  expect(await run('import-users', fileURLToPath(new URL(`../../${name}`, import.meta.url)))).toMatch(sentence);
});

it('a line of an import ends where the file has a new line, not at a separator that its JSON holds', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-import-'));
  const file = path.join(folder, 'users.jsonl');
  const users = ['Ada\u2028Lovelace', 'Mary\u2029Somerville', 'Sofja\u0085Kowalewskaja'].map((name, number) =>
    JSON.stringify({ type: 'user', email: `separated-${number}@lines.example`, name, verified: true }),
  );
  fs.writeFileSync(file, `\ufeff${users.join('\r\n')}\n\nno line`);
  expect(await run('import-users', file)).toBe('Imported 3 users and 0 organisations.\nFailed: 1.');
  fs.rmSync(folder, { recursive: true });
});
