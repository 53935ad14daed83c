import { changedValue, type Role, roleName } from '#lib/format/role-text.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';

type LogEntry = NonNullable<RouterOutputs['organisations']['auditLog']['log']>['entries'][number];

/** Who acted: a member by name, else in general words. */
export function actorText({ actor }: Pick<LogEntry, 'actor'>): string {
  const t = texts('auditLog');
  if (actor === null) return t.automatic;
  if (actor.kind === 'named') return actor.name ?? actor.email;
  return actor.kind === 'operator' ? t.operator : t.noMember;
}

/** What an entry tells beside the action, each part for itself: whom it is about, from what to what, a role, a plan, a key. */
export function detailTexts({ person, change, role, plan, key }: Omit<LogEntry, 'id' | 'at' | 'actor'>): string[] {
  const parts = [
    person && (person.kind === 'named' ? (person.name ?? person.email) : texts('auditLog').noMember),
    change && `${changedValue(change.from)} → ${changedValue(change.to)}`,
    role && roleName(role as Role),
    plan,
    key,
  ];
  return parts.filter((part): part is string => Boolean(part));
}
