import { roleTexts } from '#lib/messages/shared/roles.ts';
import type { RouterInputs, RouterOutputs } from '#lib/router.ts';

export type Role = RouterOutputs['members']['search']['members'][number]['role'];

/** The roles that an invitation can give. */
export type InvitedRole = RouterInputs['members']['invite']['role'];

/** "Admin" */
export function roleName(role: Role): string {
  return roleTexts().names[role];
}

/** "an admin" */
export function inASentence(role: Role): string {
  return roleTexts().withArticle[role];
}

/** "as an admin" */
export function asRole(role: Role): string {
  return roleTexts().as[role];
}

/** What a role allows, in a sentence. */
export function roleAllows(role: Role): string {
  return roleTexts().may[role];
}
