import type { App } from '@gatehouse/api/app';
import { commandLine } from '@gatehouse/api/operators/actor';
import { approveOwner, declineOwner } from '@gatehouse/api/operators/decide-about-owner';
import { closeDemoAccounts, markDemoAccount } from '@gatehouse/api/operators/deployment/demo-accounts';
import { grantOperator, listOperators, revokeOperator } from '@gatehouse/api/operators/operator-mark';
import { createPasswordLink } from '@gatehouse/api/operators/users/create-password-link';
import { restoreUser, suspendUser } from '@gatehouse/api/operators/users/suspend-user';
import { listing } from './listing.ts';

// Each command calls one use case and returns a sentence about the new state.

export type User = { id: string; email: string };

export async function grant(app: App, { id, email }: User): Promise<string> {
  await grantOperator(app, { userId: id }, commandLine);
  return `${email} is an operator.`;
}

export async function revoke(app: App, { id, email }: User): Promise<string> {
  await revokeOperator(app, { userId: id }, commandLine);
  return `${email} is no longer an operator.`;
}

export async function list(app: App, json: boolean): Promise<string> {
  return listing(await listOperators(app), json, (email) => email, 'There are no operators.');
}

export async function approve(app: App, { id }: User): Promise<string> {
  const { slugs, changed } = await approveOwner(app, { userId: id }, commandLine);
  return changed === 0 ? `Already approved: ${slugs.join(', ')}.` : `Approved ${slugs.join(', ')}.`;
}

export async function decline(app: App, { id }: User, reason: string): Promise<string> {
  const { slugs } = await declineOwner(app, { userId: id, reason }, commandLine);
  return `Declined ${slugs.join(', ')}.`;
}

export async function suspend(app: App, { id, email }: User): Promise<string> {
  await suspendUser(app, { userId: id }, commandLine);
  return `Suspended ${email}.`;
}

export async function restore(app: App, { id, email }: User): Promise<string> {
  await restoreUser(app, { userId: id }, commandLine);
  return `Restored ${email}.`;
}

/** Prints only the link, so that a program can read it. */
export function passwordLink(app: App, { id }: User): Promise<string> {
  return createPasswordLink(app, { userId: id }, commandLine);
}

export async function markDemo(app: App, { id, email }: User): Promise<string> {
  await markDemoAccount(app, { userId: id });
  return `${email} is a demo account.`;
}

export async function closeDemo(app: App): Promise<string> {
  const closed = await closeDemoAccounts(app);
  if (closed.length === 0) return 'There are no demo accounts.';
  return `Closed ${closed.join(', ')}. Their organisations stay: suspend-organisation closes one.`;
}
