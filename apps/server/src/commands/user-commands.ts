import type { App } from '@gatehouse/api/app';
import { commandLine } from '@gatehouse/api/operators/actor';
import { closeDemoAccounts, markDemoAccount } from '@gatehouse/api/operators/deployment/demo-accounts';
import { findUser } from '@gatehouse/api/operators/find-accounts';
import { grantOperator, listOperators, revokeOperator } from '@gatehouse/api/operators/grant-operator';
import { approveOwner, declineOwner } from '@gatehouse/api/operators/queue/decide';
import { createPasswordLink } from '@gatehouse/api/operators/users/create-password-link';
import { eraseOnRequest, exportOnRequest } from '@gatehouse/api/operators/users/data-requests';
import { listUsers } from '@gatehouse/api/operators/users/read-users';
import { resetSecondFactor } from '@gatehouse/api/operators/users/reset-second-factor';
import { endSessions, restoreUser, suspendUser } from '@gatehouse/api/operators/users/suspend-user';
import { AppError } from '@gatehouse/api/platform/errors';
import type { Command } from 'commander';
import { jsonOption, listing, notBlank, type Perform, streamed } from './answer.ts';

type User = { id: string; email: string };

type KeepKeys = { keepKeys?: boolean };

/** The option of the commands that end what a person started. */
const keepKeysOption = ['--keep-keys', 'keeps the API keys that the person made, which end otherwise'] as const;

/** " Ended as well: 2 invitations, 1 password link, the API keys Worker, Reports." */
function sentenceOf({ invitations, links, keys }: Awaited<ReturnType<typeof revokeOperator>>): string {
  const parts = [
    invitations > 0 && (invitations === 1 ? '1 invitation' : `${invitations} invitations`),
    links > 0 && (links === 1 ? '1 password link' : `${links} password links`),
    keys.length > 0 && `the API keys ${keys.join(', ')}`,
  ].filter(Boolean);
  return parts.length === 0 ? '' : ` Ended as well: ${parts.join(', ')}.`;
}

/** Adds the commands about a person. Each calls one use case and prints a sentence about the new state. */
export function addUserCommands(program: Command, perform: Perform): void {
  /** A command that takes EMAIL. The address is resolved here, because use cases take ids. */
  function forUser<Options>(
    name: string,
    description: string,
    act: (app: App, user: User, options: Options) => Promise<string>,
  ): Command {
    return program
      .command(name)
      .description(description)
      .argument('<EMAIL>', 'the address of an account, or its id')
      .action((email: string, options: Options) =>
        perform(async (app) => act(app, await findUser(app.db, email), options)),
      );
  }

  forUser('grant', 'makes a person an operator and approves their organisation', async (app, { id, email }) => {
    await grantOperator(app, { userId: id }, commandLine);
    return `${email} is an operator.`;
  });

  forUser<KeepKeys>(
    'revoke',
    'removes a person from the operators',
    async (app, { id, email }, { keepKeys = false }) => {
      const ended = await revokeOperator(app, { userId: id, keepKeys }, commandLine);
      return `${email} is no longer an operator.${sentenceOf(ended)}`;
    },
  ).option(...keepKeysOption);

  program
    .command('list')
    .description('lists the operators')
    .option(...jsonOption)
    .action(({ json = false }) =>
      perform(async (app) => listing(await listOperators(app), json, (email) => email, 'There are no operators.')),
    );

  program
    .command('users')
    .description('lists the users')
    .argument('[SEARCH]', 'a part of the address or name')
    .option(...jsonOption)
    .action((search = '', { json = false }) =>
      perform(async (app) => {
        async function readPage(after?: string) {
          const { people, next } = await listUsers(app, commandLine, { search, rows: 1000, ...(after && { after }) });
          return { rows: people, next };
        }
        return streamed(readPage, json, lineOfUser, 'There are no such users.');
      }),
    );

  forUser('approve', 'approves the organisations that the address owns', async (app, { id }) => {
    const { slugs, changed } = await approveOwner(app, { userId: id }, commandLine);
    return changed === 0 ? `Already approved: ${slugs.join(', ')}.` : `Approved ${slugs.join(', ')}.`;
  });

  forUser<{ reason: string }>(
    'decline',
    'declines the organisations that the address owns and that wait',
    async (app, { id }, { reason }) => {
      const { slugs } = await declineOwner(app, { userId: id, reason }, commandLine);
      return `Declined ${slugs.join(', ')}.`;
    },
  ).requiredOption('--reason <TEXT>', 'why; operators can read it later', notBlank);

  forUser<KeepKeys>('suspend', 'suspends a person’s account', async (app, { id, email }, { keepKeys = false }) => {
    const { ended } = await suspendUser(app, { userId: id, keepKeys }, commandLine);
    return `Suspended ${email}.${sentenceOf(ended)}`;
  }).option(...keepKeysOption);

  forUser('restore', 'restores a suspended account', async (app, { id, email }) => {
    await restoreUser(app, { userId: id }, commandLine);
    return `Restored ${email}.`;
  });

  // Prints only the link, so that a program can read it.
  forUser('password-link', 'prints a link that sets a password, once, within an hour', (app, { id }) =>
    createPasswordLink(app, { userId: id }, commandLine),
  );

  forUser(
    'reset-second-factor',
    'takes all second factors away from a person who lost them',
    async (app, { id, email }) => {
      await resetSecondFactor(app, { userId: id }, commandLine);
      return `${email} has no second factor any more, and is signed out everywhere.`;
    },
  ).addHelpText(
    'after',
    '\nThe person signs in with the password alone then, and can set up a new factor. Make sure first that it is them\n' +
      'who ask: who knows the password gets in.',
  );

  program
    .command('end-sessions')
    .description('signs a person out everywhere, or with --all everyone')
    .argument('[EMAIL]', 'the address of an account, or its id')
    .option('--all', 'all users, in place of one')
    .action((email: string | undefined, { all = false }) => perform((app) => endSessionsOf(app, email, all)));

  forUser('export', 'prints everything that is stored about a person, as JSON', async (app, { id }) =>
    JSON.stringify(await exportOnRequest(app, { userId: id }, commandLine), null, 2),
  ).addHelpText(
    'after',
    '\nIt also works for accounts that wait, were declined or are suspended. The audit log records it.',
  );

  forUser<KeepKeys & { withMembers?: boolean }>(
    'erase',
    'deletes a person’s account and every trace of the address and name, for good',
    async (app, { id, email }, { withMembers = false, keepKeys = false }) => {
      const { slugs } = await eraseOnRequest(app, { userId: id, withMembers, keepKeys }, commandLine);
      return slugs.length === 0 ? `Erased ${email}.` : `Erased ${email}, and with the account ${slugs.join(', ')}.`;
    },
  )
    .option('--with-members', 'also deletes organisations that the person alone owns and that have other members')
    .option(...keepKeysOption)
    .addHelpText(
      'after',
      '\nOrganisations that the person alone owns are deleted too; their subscriptions end at the provider first.\n' +
        'It also works for accounts that wait, were declined or are suspended. docs/privacy.md says what stays.',
    );

  forUser('mark-demo-account', 'marks an account that npm start created', async (app, { id, email }) => {
    await markDemoAccount(app, { userId: id });
    return `${email} is a demo account.`;
  });

  program
    .command('close-demo-accounts')
    .description('closes the accounts that npm start created, so that a public service may use their database')
    .action(() => perform(closeDemo));
}

type FoundUser = Awaited<ReturnType<typeof listUsers>>['people'][number];

/** Returns address, status, organisations with role, operator mark, day of the sign-up and name. */
function lineOfUser({ email, suspended, account_status, memberships, operator, created_at, name }: FoundUser): string {
  const joined = memberships.map(({ role, organisation }) => `${organisation.slug} (${role})`);
  const facts = [
    email,
    suspended ? 'suspended' : account_status,
    joined.join(', ') || 'no organisation',
    operator && 'operator',
    `since ${created_at.slice(0, 10)}`,
    name,
  ];
  return facts.filter(Boolean).join('  ');
}

/** @throws AppError VALIDATION unless either a user or all are named. */
async function endSessionsOf(app: App, email: string | undefined, all: boolean): Promise<string> {
  if ((email === undefined) !== all) throw new AppError('VALIDATION', 'Name one EMAIL, or --all.');

  const user = email === undefined ? null : await findUser(app.db, email);
  const count = await endSessions(app, user === null ? {} : { userId: user.id }, commandLine);
  return `Ended ${count === 1 ? 'one session' : `${count} sessions`} of ${user?.email ?? 'all users'}.`;
}

async function closeDemo(app: App): Promise<string> {
  const closed = await closeDemoAccounts(app);
  if (closed.length === 0) return 'There are no demo accounts.';
  return `Closed ${closed.join(', ')}. Their organisations stay: suspend-organisation closes one.`;
}
