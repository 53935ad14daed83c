import type { Texts as AllTexts } from '@gatehouse/languages/generated/texts';
import { organisationName } from '#lib/format/organisation-name.ts';
import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { type Action, auditText } from './audit-text.ts';

export type ActivityEntry = RouterOutputs['accounts']['activity'][number];

/** A sentence in parts. Names are parts of their own, so that the page can isolate their direction (<bdi>). */
type TextPart = string | { name: string };

type Person = ActivityEntry['person'];
type Texts = AllTexts['activity'];
type Values = ReturnType<typeof valuesOf>;
type Sentence = (values: Values) => string | (string | object)[];

/** What a full sentence tells and an entry can lack, for the actions that have a short sentence too. */
const toldInFull: Partial<Record<Action, 'change' | 'organisation' | 'role' | 'plan' | 'note' | 'key'>> = {
  'role-changed': 'change',
  'ownership-transferred': 'organisation',
  'member-joined': 'role',
  'member-added': 'role',
  'invitation-made': 'note',
  'api-key-created': 'key',
  'plan-resumed': 'plan',
  'organisation-renamed': 'change',
  'subscription-changed': 'change',
  'payment-failed': 'plan',
};

/**
 * Writes an entry of the activity list: who did what to whom, as far as the user may know it.
 * "You changed mia@… from member to admin", "Silver started". An action without a sentence of
 * its own gets the general text of audit-text.ts.
 */
export function activityText(entry: ActivityEntry): TextPart[] {
  const t = texts('activity');
  const sentences: Partial<Record<Action, { full: Sentence | string; short?: Sentence | string }>> = t.sentences;
  const ofAction = sentences[entry.action];
  if (ofAction === undefined) return [auditText(entry.action)];

  const told = toldInFull[entry.action];
  const sentence = told !== undefined && entry[told] === null ? (ofAction.short ?? ofAction.full) : ofAction.full;
  const parts = typeof sentence === 'string' ? sentence : sentence(valuesOf(entry, t));
  return ([parts].flat(2) as TextPart[]).filter((part) => part !== '');
}

/** The values of a sentence's placeholders, with a general word for what the entry lacks. */
function valuesOf(entry: ActivityEntry, t: Texts) {
  const { actor, person, organisation, change, role, plan, note, key } = entry;
  const self = actor?.kind === 'you' && person?.kind === 'you';
  const name = organisation && { name: organisationName(organisation) };
  return {
    by: by(actor, t),
    person: subject(person, t),
    has: person?.kind === 'you' ? t.has.you : t.has.other,
    is: person?.kind === 'you' ? t.is.you : t.is.other,
    object: self ? t.yourselfObject : object(person, t, 'Object'),
    objectDative: self ? t.yourselfObject : object(person, t, 'Dative'),
    organisation: name ?? t.anOrganisation,
    organisationDative: name ?? t.anOrganisationDative,
    Organisation: name ?? t.yourOrganisation,
    fromName: { name: change?.from ?? '' },
    toName: { name: change?.to ?? '' },
    from: roleWord(change?.from ?? '', t),
    to: roleWord(change?.to ?? '', t),
    role: roleWord(role ?? '', t),
    asRole: Object.hasOwn(t.asRoles, role ?? '') ? t.asRoles[role as keyof typeof t.asRoles] : (role ?? ''),
    note: { name: note ?? '' },
    key: { name: key ?? '' },
    plan: plan ?? t.thePlan,
    Plan: plan ?? t.ThePlan,
  };
}

/** "You", "Mia". An actor who may not be named is "An admin", because only administrators do these things. */
function by(actor: ActivityEntry['actor'], t: Texts): TextPart[] {
  if (actor === null || actor.kind === 'unnamed') return [t.admin, t.has.other];
  return [subject(actor, t), actor.kind === 'you' ? t.has.you : t.has.other];
}

function subject(person: Person, t: Texts): TextPart {
  if (person?.kind === 'named') return { name: person.name ?? person.email };
  if (person?.kind === 'you') return t.you;
  return person?.kind === 'operator' ? t.operator : t.formerMember;
}

function object(person: Person, t: Texts, form: 'Object' | 'Dative'): TextPart {
  if (person?.kind === 'named') return { name: person.name ?? person.email };
  if (person?.kind === 'you') return t[`you${form}`];
  return person?.kind === 'operator' ? t[`operator${form}`] : t[`formerMember${form}`];
}

/** A role in a sentence; a plan's name, which the same change can hold, stays as it is. */
function roleWord(role: string, { roles }: Texts): string {
  return Object.hasOwn(roles, role) ? roles[role as keyof typeof roles] : role;
}
