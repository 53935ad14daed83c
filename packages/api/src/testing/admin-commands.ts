import type { App } from '../app.ts';
import { commandLine } from '../operators/actor.ts';
import { findOrganisation, findUser } from '../operators/find-accounts.ts';
import * as mark from '../operators/grant-operator.ts';
import * as organisations from '../operators/organisations/suspend-organisation.ts';
import * as owners from '../operators/queue/decide.ts';
import * as links from '../operators/users/create-password-link.ts';
import * as users from '../operators/users/suspend-user.ts';

// The use cases of the admin commands, for tests that identify users by address and organisations by slug.

export const approveOwner = (app: App, email: string) =>
  onUser(app, email, (userId) => owners.approveOwner(app, { userId }, commandLine));
export const declineOwner = (app: App, email: string, reason: string) =>
  onUser(app, email, (userId) => owners.declineOwner(app, { userId, reason }, commandLine));
export const grantOperator = (app: App, email: string) =>
  onUser(app, email, (userId) => mark.grantOperator(app, { userId }, commandLine));
export const revokeOperator = (app: App, email: string) =>
  onUser(app, email, (userId) => mark.revokeOperator(app, { userId }, commandLine));
export const suspendUser = (app: App, email: string) =>
  onUser(app, email, (userId) => users.suspendUser(app, { userId }, commandLine));
export const restoreUser = (app: App, email: string) =>
  onUser(app, email, (userId) => users.restoreUser(app, { userId }, commandLine));
export const createPasswordLink = (app: App, email: string) =>
  onUser(app, email, (userId) => links.createPasswordLink(app, { userId }, commandLine));
export const suspendOrganisation = (app: App, slug: string) =>
  onOrganisation(app, slug, (organisationId) =>
    organisations.suspendOrganisation(app, { organisationId }, commandLine),
  );
export const restoreOrganisation = (app: App, slug: string) =>
  onOrganisation(app, slug, (organisationId) =>
    organisations.restoreOrganisation(app, { organisationId }, commandLine),
  );

async function onUser<Result>(app: App, email: string, act: (userId: string) => Promise<Result>): Promise<Result> {
  return act((await findUser(app.db, email)).id);
}

async function onOrganisation(
  app: App,
  slug: string,
  act: (organisationId: string) => Promise<unknown>,
): Promise<void> {
  await act((await findOrganisation(app.db, slug)).id);
}
