import type { App } from '@gatehouse/api/app';
import { commandLine } from '@gatehouse/api/operators/actor';
import { afterRestore } from '@gatehouse/api/operators/deployment/after-restore';
import { findUser } from '@gatehouse/api/operators/find-accounts';
import { endSessions } from '@gatehouse/api/operators/users/end-sessions';
import { eraseOnRequest } from '@gatehouse/api/operators/users/erase-on-request';
import { exportOnRequest } from '@gatehouse/api/operators/users/export-on-request';
import { AppError } from '@gatehouse/api/platform/errors';
import type { User } from './account-commands.ts';

export async function exportUser(app: App, { id }: User): Promise<string> {
  return JSON.stringify(await exportOnRequest(app, { userId: id }, commandLine), null, 2);
}

export async function erase(app: App, { id, email }: User, withMembers: boolean): Promise<string> {
  const { slugs } = await eraseOnRequest(app, { userId: id, withMembers, finishes: true }, commandLine);
  return slugs.length === 0 ? `Erased ${email}.` : `Erased ${email}, and with the account ${slugs.join(', ')}.`;
}

/** @throws AppError VALIDATION unless either a user or all are named. */
export async function endSessionsOf(app: App, email: string, all: boolean): Promise<string> {
  if ((email === '') !== all) throw new AppError('VALIDATION', 'Name one EMAIL, or --all.');

  const user = all ? null : await findUser(app.db, email);
  const count = await endSessions(app, user === null ? {} : { userId: user.id }, commandLine);
  return `Ended ${count === 1 ? 'one session' : `${count} sessions`} of ${user?.email ?? 'all users'}.`;
}

export async function makeSafe(app: App): Promise<string> {
  const { sessions, links, invitations, mails, subscriptions, validKeys } = await afterRestore(app, commandLine);
  const lines = [
    `Ended: sessions ${sessions}, links ${links}, invitations ${invitations}. Dropped: mails that waited ${mails}.`,
    subscriptions > 0 &&
      `Subscriptions that the service syncs within minutes of its start: ${subscriptions}. Then run reconcile.`,
    validKeys > 0 &&
      `Valid API keys, with those that were revoked after the backup: ${validKeys}. Look through api-key list.`,
    'Passwords, suspensions and operators are those of the backup: look through list and users.',
  ];
  return lines.filter((line) => line !== false).join('\n');
}
