import type { App } from '@gatehouse/api/app';
import { setUpBilling } from '@gatehouse/api/billing/actions/set-up-billing';
import { reconcile } from '@gatehouse/api/billing/sync/reconcile';
import {
  approveOwner,
  declineOwner,
  grantOperator,
  listOperators,
  makePasswordLink,
  restoreOrganisation,
  restoreUser,
  revokeOperator,
  suspendOrganisation,
  suspendUser,
} from '@gatehouse/api/operators/admin-commands';
import { closeDemoAccounts, markDemoAccount } from '@gatehouse/api/operators/demo-accounts';
import { examine } from '@gatehouse/api/operators/doctor/doctor';
import { startCustomerAnew } from '@gatehouse/api/operators/start-customer-anew';

/** What a command says; a report may say that something is not sound. */
export type Answer = string | { report: string; sound: boolean };

export type Command = {
  /** What follows the name, as the usage shows it, an option with what stands behind it. All of it is needed. */
  takes: string[];
  does: string;
  /** Whether it has something to say while the database is away. */
  withoutDatabase?: boolean;
  run: (app: App, args: string[]) => Promise<Answer>;
};

function onOne(takes: string, does: string, act: (app: App, which: string) => Promise<string>): Command {
  return { takes: [takes], does, run: (app, [which = '']) => act(app, which) };
}

export const commands: Record<string, Command> = {
  grant: onOne('EMAIL', 'makes a person an operator and approves their organisation', grantOperator),
  revoke: onOne('EMAIL', 'takes the mark of an operator away', revokeOperator),
  list: { takes: [], does: 'lists the operators', run: listOperators },
  approve: onOne('EMAIL', 'approves the organisations that the address owns', approveOwner),
  decline: {
    takes: ['EMAIL', '--reason "…"'],
    does: 'declines them',
    run: (app, [email = '', reason = '']) => declineOwner(app, email, reason),
  },
  suspend: onOne('EMAIL', 'closes a person’s account', suspendUser),
  restore: onOne('EMAIL', 'opens it again', restoreUser),
  'suspend-organisation': onOne('SLUG', 'closes an organisation', suspendOrganisation),
  'restore-organisation': onOne('SLUG', 'opens it again', restoreOrganisation),
  'password-link': onOne('EMAIL', 'prints an address that sets a password, once, within an hour', makePasswordLink),
  'mark-demo-account': onOne('EMAIL', 'marks an account that npm start made', markDemoAccount),
  'close-demo-accounts': {
    takes: [],
    does: 'closes the accounts that npm start made, so that a public service may use their database',
    run: closeDemoAccounts,
  },
  'billing-setup': { takes: [], does: 'makes products, prices and the portal at the provider', run: setUpBilling },
  reconcile: { takes: [], does: 'compares all subscriptions with the provider’s and repairs', run: reconcile },
  'new-customer': onOne('SLUG', 'gives up a customer that the provider does not know', startCustomerAnew),
  doctor: { takes: [], does: 'holds the whole configuration against reality', withoutDatabase: true, run: examine },
};

export function usage(): string {
  const lines = Object.entries(commands).map(([name, { takes, does }]) => [[name, ...takes].join(' '), does]);
  const width = Math.max(...lines.map(([call = '']) => call.length));
  return ['npm run operator -- …', ...lines.map(([call = '', does]) => `  ${call.padEnd(width)}  ${does}`)].join('\n');
}
