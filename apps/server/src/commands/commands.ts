import type { App } from '@gatehouse/api/app';
import { setUpBilling } from '@gatehouse/api/billing/actions/set-up-billing';
import { describeSchema } from '@gatehouse/api/operators/describe-schema';
import { findOrganisation, findUser } from '@gatehouse/api/operators/find-accounts';
import * as account from './account-commands.ts';
import * as data from './data-commands.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './key-commands.ts';
import { listAllOrganisations, listAllUsers } from './list-commands.ts';
import { newCustomer, restoreOrganisation, suspendOrganisation } from './organisation-commands.ts';
import { diagnose, reconcile } from './report-commands.ts';

/** What a command prints. A report that is not sound makes the exit code 1. */
export type Answer = string | { report: string; sound: boolean };

export type Command = {
  /**
   * The arguments, as the usage shows them. An option is followed by a description of its value; one in
   * square brackets may be absent, and its argument is then empty.
   */
  parameters: string[];
  /** What the command does, as the usage shows it. */
  summary: string;
  /** Further lines of its help. */
  details?: string[];
  /** When the exit code is 1 although the command did not fail. */
  failsIf?: string;
  /** Whether the command runs while the database is unavailable. */
  withoutDatabase?: boolean;
  /** Whether the database is migrated before the command runs. */
  migrates?: boolean;
  /** @throws Error whose message is the sentence to print, such as an AppError. */
  run: (app: App, args: string[]) => Promise<Answer>;
};

export const commands: Record<string, Command> = {
  grant: forUser('makes a person an operator and approves their organisation', account.grant),
  revoke: forUser('removes a person from the operators', account.revoke),
  list: {
    parameters: ['[--json]'],
    summary: 'lists the operators',
    run: (app, [json = '']) => account.list(app, json !== ''),
  },
  users: {
    parameters: ['[SEARCH]', '[--json]'],
    summary: 'lists the users, or those whose address or name contains the search',
    run: (app, [search = '', json = '']) => listAllUsers(app, search, json !== ''),
  },
  organisations: {
    parameters: ['[SEARCH]', '[--json]'],
    summary: 'lists the organisations, or those whose name or slug contains the search',
    run: (app, [search = '', json = '']) => listAllOrganisations(app, search, json !== ''),
  },
  approve: forUser('approves the organisations that the address owns', account.approve),
  decline: {
    parameters: ['EMAIL', '--reason "…"'],
    summary: 'declines the organisations that the address owns and that wait',
    run: async (app, [email = '', reason = '']) => account.decline(app, await findUser(app.db, email), reason),
  },
  suspend: forUser('suspends a person’s account', account.suspend),
  restore: forUser('restores a suspended account', account.restore),
  'suspend-organisation': forOrganisation('suspends an organisation', suspendOrganisation),
  'restore-organisation': forOrganisation('restores a suspended organisation', restoreOrganisation),
  'password-link': forUser('prints a link that sets a password, once, within an hour', account.passwordLink),
  'end-sessions': {
    parameters: ['[EMAIL]', '[--all]'],
    summary: 'signs a person out everywhere, or with --all everyone',
    run: (app, [email = '', all = '']) => data.endSessionsOf(app, email, all !== ''),
  },
  export: {
    ...forUser('prints everything that is stored about a person, as JSON', data.exportUser),
    details: ['It also works for accounts that wait, were declined or are suspended. The audit log records it.'],
  },
  erase: {
    parameters: ['EMAIL', '[--with-members]'],
    summary: 'deletes a person’s account and every trace of the address and name, for good',
    details: [
      'Organisations that the person alone owns are deleted too; their subscriptions end at the provider first.',
      'It also works for accounts that wait, were declined or are suspended. docs/privacy.md says what stays.',
    ],
    run: async (app, [email = '', members = '']) => data.erase(app, await findUser(app.db, email), members !== ''),
  },
  'api-key create': {
    parameters: ['--name NAME', '[--scope READ|WRITE]', '[--organisation SLUG]', '[--expires-days N]'],
    summary: 'prints a new API key for your services, once',
    run: (app, [name = '', scope = '', slug = '', days = '']) => createApiKey(app, { name, scope, slug, days }),
  },
  'api-key list': {
    parameters: ['[--json]'],
    summary: 'lists the API keys',
    run: (app, [json = '']) => listApiKeys(app, json !== ''),
  },
  'api-key revoke': {
    parameters: ['ID'],
    summary: 'revokes an API key',
    run: (app, [id = '']) => revokeApiKey(app, id),
  },
  'mark-demo-account': forUser('marks an account that npm start created', account.markDemo),
  'close-demo-accounts': {
    parameters: [],
    summary: 'closes the accounts that npm start created, so that a public service may use their database',
    run: account.closeDemo,
  },
  'billing-setup': {
    parameters: [],
    summary: 'creates products, prices and the portal at the provider',
    run: setUpBilling,
  },
  reconcile: {
    parameters: ['[--json]'],
    summary: 'compares all subscriptions with the provider’s and repairs',
    details: ['Its last line is the summary.'],
    failsIf: 'something differed, also where it was repaired',
    run: (app, [json = '']) => reconcile(app, json !== ''),
  },
  'new-customer': forOrganisation('replaces a customer that the provider does not know', newCustomer),
  migrate: {
    parameters: [],
    summary: 'applies the migrations of this release to the database',
    migrates: true,
    run: describeSchema,
  },
  'after-restore': {
    parameters: [],
    summary: 'makes a database safe that was restored from a backup, before the service starts on it',
    details: [
      'Ends all sessions, links and invitations, which may have been ended or used after the backup, drops the',
      'mails that wait, and marks all subscriptions for a sync with the payment provider. Readers of the feed of',
      'changes must then read everything again.',
    ],
    run: data.makeSafe,
  },
  doctor: {
    parameters: ['[--json]'],
    summary: 'checks the whole configuration against the services that it names',
    failsIf: 'something is wrong',
    withoutDatabase: true,
    run: (app, [json = '']) => diagnose(app, json !== ''),
  },
};

/** A command that takes EMAIL. The address is resolved here, because use cases take ids. */
function forUser(summary: string, act: (app: App, user: account.User) => Promise<string>): Command {
  return {
    parameters: ['EMAIL'],
    summary,
    run: async (app, [email = '']) => act(app, await findUser(app.db, email)),
  };
}

/** A command that takes SLUG. */
function forOrganisation(
  summary: string,
  act: (app: App, organisation: { id: string; slug: string }) => Promise<string>,
): Command {
  return {
    parameters: ['SLUG'],
    summary,
    run: async (app, [slug = '']) => act(app, await findOrganisation(app.db, slug)),
  };
}
