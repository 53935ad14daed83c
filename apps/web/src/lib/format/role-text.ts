import type { RouterInputs, RouterOutputs } from '#lib/router.ts';

export type Role = RouterOutputs['members']['search']['members'][number]['role'];

/** The roles that an invitation can give. */
export type InvitedRole = RouterInputs['members']['invite']['role'];

export const roleNames: Record<Role, string> = { owner: 'Owner', admin: 'Admin', member: 'Member', viewer: 'Viewer' };

const withArticle: Record<Role, string> = {
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member',
  viewer: 'a viewer',
};

/** "an admin" */
export function inASentence(role: Role): string {
  return withArticle[role];
}

/** "as an admin" */
export function asRole(role: Role): string {
  return `as ${withArticle[role]}`;
}

const may: Record<Role, string> = {
  owner: 'Owners manage members, owners and the plan.',
  admin: 'Admins manage members and the plan.',
  member: 'Members read and write.',
  viewer: 'Viewers read.',
};

/** What a role allows, in a sentence. */
export function roleAllows(role: Role): string {
  return may[role];
}
