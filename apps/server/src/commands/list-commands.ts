import type { App } from '@gatehouse/api/app';
import { listOrganisations } from '@gatehouse/api/operators/organisations/find-organisations';
import { listUsers } from '@gatehouse/api/operators/users/find-users';
import { listing } from './listing.ts';

const rows = 1000;

type User = Awaited<ReturnType<typeof listUsers>>['people'][number];
type Organisation = Awaited<ReturnType<typeof listOrganisations>>['organisations'][number];

/** Prints a line for each user: address, status, organisations with role, operator mark, day of the sign-up, name. */
export async function listAllUsers(app: App, search: string, json: boolean): Promise<string> {
  const found: User[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await listUsers(app, { search, rows, ...(after && { after }) });
    found.push(...page.people);
    after = page.next;
  }
  return listing(found, json, lineOfUser, 'There are no such users.');
}

function lineOfUser({ email, suspended, account_status, memberships, operator, created_at, name }: User): string {
  const joined = memberships.map(({ role, organisation }) => `${organisation.slug} (${role})`);
  const status = suspended ? 'suspended' : account_status;
  const facts = [
    email,
    status,
    joined.join(', ') || 'no organisation',
    operator && 'operator',
    since(created_at),
    name,
  ];
  return facts.filter(Boolean).join('  ');
}

/** Prints a line for each organisation: slug, status, plan, owner, day of its creation and name. */
export async function listAllOrganisations(app: App, search: string, json: boolean): Promise<string> {
  const found: Organisation[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await listOrganisations(app, { search, rows, ...(after && { after }) });
    found.push(...page.organisations);
    after = page.next;
  }
  return listing(found, json, lineOfOrganisation, 'There are no such organisations.');
}

function lineOfOrganisation({ slug, status, plan, owner, created_at, name }: Organisation): string {
  const shown = plan.status === 'none' ? plan.tier : `${plan.tier} (${plan.status})`;
  return [slug, status, shown, owner ?? 'no owner', since(created_at), name].filter(Boolean).join('  ');
}

function since(time: string): string {
  return `since ${time.slice(0, 10)}`;
}
