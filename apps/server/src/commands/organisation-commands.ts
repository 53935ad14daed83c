import type { App } from '@gatehouse/api/app';
import { commandLine } from '@gatehouse/api/operators/actor';
import * as organisations from '@gatehouse/api/operators/organisations/suspend-organisation';
import { replaceCustomer } from '@gatehouse/api/operators/replace-customer';

type Organisation = { id: string; slug: string };

export async function suspendOrganisation(app: App, { id, slug }: Organisation): Promise<string> {
  await organisations.suspendOrganisation(app, { organisationId: id }, commandLine);
  return `Suspended ${slug}.`;
}

export async function restoreOrganisation(app: App, { id, slug }: Organisation): Promise<string> {
  await organisations.restoreOrganisation(app, { organisationId: id }, commandLine);
  return `Restored ${slug}.`;
}

export async function newCustomer(app: App, { id, slug }: Organisation): Promise<string> {
  const { customerId, givenUpIds } = await replaceCustomer(app, { organisationId: id });
  return givenUpIds.length === 0
    ? `${customerId} was deleted at the provider. The next checkout of ${slug} makes a new one.`
    : `Gave up ${givenUpIds.join(', ')}. ${slug} can buy again.`;
}
