import type { App } from '@gatehouse/api/app';
import { setUpBilling } from '@gatehouse/api/billing/actions/set-up-billing';
import { reconcile } from '@gatehouse/api/billing/sync/reconcile';
import { describeSchema } from '@gatehouse/api/operators/describe-schema';
import { examine } from '@gatehouse/api/operators/doctor/doctor';
import { findOrganisation, findUser } from '@gatehouse/api/operators/find-accounts';
import * as account from './account-commands.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './key-commands.ts';
import { newCustomer, restoreOrganisation, suspendOrganisation } from './organisation-commands.ts';

/** What a command prints. A report that is not sound makes the exit code 1. */
export type Answer = string | { report: string; sound: boolean };

export type Command = {
  /**
   * The arguments, as the usage shows them. An option is followed by a description of its value; one in
   * square brackets may be absent, and its argument is then empty.
   */
  takes: string[];
  /** What the command does, as the usage shows it. */
  does: string;
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
  list: { takes: [], does: 'lists the operators', run: account.list },
  approve: forUser('approves the organisations that the address owns', account.approve),
  decline: {
    takes: ['EMAIL', '--reason "…"'],
    does: 'declines them',
    run: async (app, [email = '', reason = '']) => account.decline(app, await findUser(app.db, email), reason),
  },
  suspend: forUser('suspends a person’s account', account.suspend),
  restore: forUser('restores a suspended account', account.restore),
  'suspend-organisation': forOrganisation('suspends an organisation', suspendOrganisation),
  'restore-organisation': forOrganisation('restores a suspended organisation', restoreOrganisation),
  'password-link': forUser('prints an address that sets a password, once, within an hour', account.passwordLink),
  'api-key create': {
    takes: ['--name NAME', '[--scope READ|WRITE]', '[--organisation SLUG]', '[--expires-days N]'],
    does: 'prints a new API key for your services, once',
    run: (app, [name = '', scope = '', slug = '', days = '']) => createApiKey(app, { name, scope, slug, days }),
  },
  'api-key list': { takes: [], does: 'lists the API keys', run: listApiKeys },
  'api-key revoke': { takes: ['ID'], does: 'revokes one', run: (app, [id = '']) => revokeApiKey(app, id) },
  'mark-demo-account': forUser('marks an account that npm start made', account.markDemo),
  'close-demo-accounts': {
    takes: [],
    does: 'closes the accounts that npm start made, so that a public service may use their database',
    run: account.closeDemo,
  },
  'billing-setup': { takes: [], does: 'makes products, prices and the portal at the provider', run: setUpBilling },
  reconcile: { takes: [], does: 'compares all subscriptions with the provider’s and repairs', run: reconcile },
  'new-customer': forOrganisation('gives up a customer that the provider does not know', newCustomer),
  migrate: {
    takes: [],
    does: 'applies the migrations of this release to the database',
    migrates: true,
    run: describeSchema,
  },
  doctor: {
    takes: [],
    does: 'checks the whole configuration against the services that it names',
    withoutDatabase: true,
    run: examine,
  },
};

/** A command that takes EMAIL, and resolves it once: use cases take ids. */
function forUser(does: string, act: (app: App, user: account.User) => Promise<string>): Command {
  return {
    takes: ['EMAIL'],
    does,
    run: async (app, [email = '']) => act(app, await findUser(app.db, email)),
  };
}

/** A command that takes SLUG, and resolves it once. */
function forOrganisation(
  does: string,
  act: (app: App, organisation: { id: string; slug: string }) => Promise<string>,
): Command {
  return {
    takes: ['SLUG'],
    does,
    run: async (app, [slug = '']) => act(app, await findOrganisation(app.db, slug)),
  };
}

/** Returns the usage of all commands, a line each. */
export function usage(): string {
  const lines = Object.entries(commands).map(([name, { takes, does }]) => [[name, ...takes].join(' '), does]);
  const width = Math.max(...lines.map(([call = '']) => call.length));
  return ['npm run operator -- …', ...lines.map(([call = '', does]) => `  ${call.padEnd(width)}  ${does}`)].join('\n');
}
