import { texts } from '#lib/language/texts.ts';
import type { RouterInputs, RouterOutputs } from '#lib/router.ts';

export type Role = RouterOutputs['members']['search']['members'][number]['role'];

/** The roles that an invitation can give. */
export type InvitedRole = RouterInputs['members']['invite']['role'];

/** "Admin" */
export function roleName(role: Role): string {
  return texts('role').names[role];
}

/** "an admin" */
export function roleWithArticle(role: Role): string {
  return texts('role').withArticle[role];
}

/** "as an admin" */
export function asRole(role: Role): string {
  return texts('role').as[role];
}

/** What a role allows, in a sentence. */
export function roleAllows(role: Role): string {
  return texts('role').may[role];
}

/** A value that a change in the audit names: "Admin" for a role, and any other as it is. */
export function changedValue(value: string): string {
  const { names } = texts('role');
  return Object.hasOwn(names, value) ? names[value as Role] : value;
}
