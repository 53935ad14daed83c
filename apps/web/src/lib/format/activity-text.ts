import { roleNames } from '#lib/format/role-text.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { type Action, auditText } from './audit-text.ts';

export type ActivityEntry = RouterOutputs['accounts']['activity'][number];

/** A sentence in parts. Names are parts of their own, so that the page can isolate their direction (<bdi>). */
export type TextPart = string | { name: string };

type Person = ActivityEntry['person'];
type Write = (entry: ActivityEntry) => TextPart[];

/**
 * Writes an entry of the activity list: who did what to whom, as far as the reader may know it.
 * "You changed mia@… from member to admin", "Silver started". An action without a sentence of
 * its own gets the general text of audit-text.ts.
 */
export function activityText(entry: ActivityEntry): TextPart[] {
  const write = sentences[entry.action];
  return write === undefined ? [auditText(entry.action)] : write(entry);
}

const sentences: Partial<Record<Action, Write>> = {
  'role-changed': (entry) =>
    entry.change === null
      ? by(entry, ' changed the role of ', object(entry))
      : by(entry, ' changed ', object(entry), ` from ${roleWord(entry.change.from)} to ${roleWord(entry.change.to)}`),
  'ownership-transferred': (entry) => by(entry, ' transferred the ownership', ...of(entry), ' to ', object(entry)),
  'member-removed': (entry) => by(entry, ' removed ', object(entry), ...from(entry)),
  'member-joined': (entry) => [subject(entry.person), ' joined ', organisation(entry), ...asRole(entry)],
  'organisation-left': (entry) => [subject(entry.person), ' left ', organisation(entry)],
  'invitation-made': (entry) => by(entry, ' created an invitation', ...asRole(entry)),
  'invitation-withdrawn': (entry) => by(entry, ' revoked an invitation'),
  'organisation-created': (entry) => [subject(entry.person), ' created ', organisation(entry)],
  'organisation-renamed': (entry) =>
    entry.change === null
      ? by(entry, ' named the organisation')
      : by(entry, ' renamed ', { name: entry.change.from }, ' to ', { name: entry.change.to }),
  'billing-contact-changed': (entry) => by(entry, ' changed the billing contact'),
  'organisation-deleted': (entry) => by(entry, ' deleted an organisation'),
  'organisation-approved': (entry) => [organisation(entry, true), ' was approved'],
  'organisation-declined': (entry) => [organisation(entry, true), ' was declined'],
  'decision-undone': (entry) => [organisation(entry, true), ' waits for approval again'],
  'organisation-suspended': (entry) => [organisation(entry, true), ' was suspended'],
  'organisation-restored': (entry) => [organisation(entry, true), ' was restored'],
  'plan-cancelled': (entry) => by(entry, ' cancelled ', plan(entry)),
  'plan-resumed': (entry) => by(entry, ' kept ', plan(entry)),
  'subscription-started': (entry) => [plan(entry, true), ' started'],
  'subscription-changed': ({ change }) =>
    change === null ? ['Plan changed'] : [`Plan changed from ${change.from} to ${change.to}`],
  'subscription-ended': (entry) => [plan(entry, true), ' ended'],
  'payment-failed': ({ plan }) => [plan === null ? 'Payment failed' : `Payment failed for ${plan}`],
};

/** "You changed …". An actor who may not be named is "An admin", because only administrators do these things. */
function by({ actor }: ActivityEntry, ...rest: TextPart[]): TextPart[] {
  return [actor === null || actor.kind === 'unnamed' ? 'An admin' : subject(actor), ...rest];
}

function subject(person: Person): TextPart {
  if (person?.kind === 'named') return { name: person.name ?? person.email };
  if (person?.kind === 'you') return 'You';
  return person?.kind === 'operator' ? 'An operator' : 'A former member';
}

function object({ actor, person }: ActivityEntry): TextPart {
  if (person?.kind === 'named') return { name: person.name ?? person.email };
  if (person?.kind === 'you') return actor?.kind === 'you' ? 'yourself' : 'you';
  return person?.kind === 'operator' ? 'an operator' : 'a former member';
}

function organisation({ organisation }: ActivityEntry, first = false): TextPart {
  if (organisation === null) return first ? 'Your organisation' : 'an organisation';
  return { name: organisation.name ?? organisation.slug };
}

function of(entry: ActivityEntry): TextPart[] {
  return entry.organisation === null ? [] : [' of ', organisation(entry)];
}

function from(entry: ActivityEntry): TextPart[] {
  return entry.organisation === null ? [' from an organisation'] : [' from ', organisation(entry)];
}

function plan({ plan }: ActivityEntry, first = false): TextPart {
  return plan ?? (first ? 'The plan' : 'the plan');
}

function asRole({ role }: ActivityEntry): TextPart[] {
  return role === null ? [] : [` as ${roleWord(role)}`];
}

function roleWord(role: string): string {
  return Object.hasOwn(roleNames, role) ? roleNames[role as keyof typeof roleNames].toLowerCase() : role;
}
