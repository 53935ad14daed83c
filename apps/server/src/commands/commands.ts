import { parseArgs } from 'node:util';
import type { App } from '@gatehouse/api/app';
import { reconcile } from '@gatehouse/api/billing/reconcile';
import { setUpBilling } from '@gatehouse/api/billing/setup';
import { Refusal } from '@gatehouse/api/errors';
import {
  approveOwner,
  declineOwner,
  grantOperator,
  listOperators,
  makePasswordLink,
  restoreOrganisation,
  restorePerson,
  revokeOperator,
  suspendOrganisation,
  suspendPerson,
} from '@gatehouse/api/operators/by-address';
import { examine } from '@gatehouse/api/operators/doctor';

/** What a command says; a report may say that something is not sound. */
export type Answer = string | { report: string; sound: boolean };

type Command = {
  /** What follows the name, as the usage shows it. */
  takes: string;
  does: string;
  /** The fewest arguments. */
  least: number;
  run: (app: App, args: string[]) => Promise<Answer>;
};

function onOne(takes: string, does: string, act: (app: App, which: string) => Promise<string>): Command {
  return { takes, does, least: 1, run: (app, [which = '']) => act(app, which) };
}

export const commands: Record<string, Command> = {
  grant: onOne('EMAIL', 'makes a person an operator and approves their organisation', grantOperator),
  revoke: onOne('EMAIL', 'takes the mark of an operator away', revokeOperator),
  list: { takes: '', does: 'lists the operators', least: 0, run: listOperators },
  approve: onOne('EMAIL', 'approves the organisations that the address owns', approveOwner),
  decline: { takes: 'EMAIL --reason "…"', does: 'declines them', least: 1, run: declineWithReason },
  suspend: onOne('EMAIL', 'closes a person’s account', suspendPerson),
  restore: onOne('EMAIL', 'opens it again', restorePerson),
  'suspend-organisation': onOne('SLUG', 'closes an organisation', suspendOrganisation),
  'restore-organisation': onOne('SLUG', 'opens it again', restoreOrganisation),
  'password-link': onOne('EMAIL', 'prints an address that sets a password, once, within an hour', makePasswordLink),
  'billing-setup': {
    takes: '',
    does: 'makes products, prices and the portal at the provider',
    least: 0,
    run: setUpBilling,
  },
  reconcile: {
    takes: '',
    does: 'compares all subscriptions with the provider’s and repairs',
    least: 0,
    run: reconcile,
  },
  doctor: { takes: '', does: 'holds the whole configuration against reality', least: 0, run: examine },
};

export function usage(): string {
  const lines = Object.entries(commands).map(([name, { takes, does }]) => [`${name} ${takes}`.trim(), does]);
  const width = Math.max(...lines.map(([call = '']) => call.length));
  return ['npm run operator -- …', ...lines.map(([call = '', does]) => `  ${call.padEnd(width)}  ${does}`)].join('\n');
}

function declineWithReason(app: App, args: string[]): Promise<string> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { reason: { type: 'string' } } });
  if (!values.reason) throw new Refusal('VALIDATION', 'Say why: decline EMAIL --reason "…".');
  return declineOwner(app, positionals[0] ?? '', values.reason);
}
