import { organisationName } from '#lib/format/organisation-name.ts';
import { activityTexts } from '#lib/messages/app/activity.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { type Action, auditText } from './audit-text.ts';

export type ActivityEntry = RouterOutputs['accounts']['activity'][number];

/** A sentence in parts. Names are parts of their own, so that the page can isolate their direction (<bdi>). */
type TextPart = string | { name: string };

type Person = ActivityEntry['person'];
type Texts = ReturnType<typeof activityTexts>;

/**
 * Writes an entry of the activity list: who did what to whom, as far as the user may know it.
 * "You changed mia@… from member to admin", "Silver started". An action without a sentence of
 * its own gets the general text of audit-text.ts.
 */
export function activityText(entry: ActivityEntry): TextPart[] {
  const t = activityTexts();
  const sentences: Partial<Record<Action, string[]>> = t.sentences;
  const [sentence] = (sentences[entry.action] ?? [])
    .map((text) => text.split(/\{(\w+)\}/))
    .sort((one, other) => missingValues(entry, one) - missingValues(entry, other));
  if (sentence === undefined) return [auditText(entry.action)];

  return sentence
    .flatMap((piece, index) => (index % 2 === 0 ? [piece] : replacementOf(piece, entry, t)))
    .filter((part) => part !== '');
}

/** How many values of a sentence an entry lacks. The values are the pieces with an odd index. */
function missingValues(entry: ActivityEntry, sentence: string[]): number {
  return sentence.filter((piece, index) => index % 2 === 1 && lacks(entry, piece)).length;
}

/** Whether an entry lacks the value of {name}, in place of which a sentence has a general word. */
function lacks({ organisation, change, role, plan }: ActivityEntry, name: string): boolean {
  switch (name.toLowerCase()) {
    case 'organisation':
    case 'organisationdative':
      return organisation === null;
    case 'from':
    case 'to':
    case 'fromname':
    case 'toname':
      return change === null;
    case 'role':
      return role === null;
    case 'plan':
      return plan === null;
    default:
      return false;
  }
}

/** Returns the parts that replace {name} in a sentence. */
function replacementOf(name: string, entry: ActivityEntry, t: Texts): TextPart[] {
  const { actor, person, organisation, change, role, plan } = entry;
  switch (name) {
    case 'by':
      return by(actor, t);
    case 'person':
      return [subject(person, t)];
    case 'has':
      return [person?.kind === 'you' ? t.has.you : t.has.other];
    case 'is':
      return [person?.kind === 'you' ? t.is.you : t.is.other];
    case 'object':
      return [actor?.kind === 'you' && person?.kind === 'you' ? t.yourselfObject : object(person, t, 'Object')];
    case 'objectDative':
      return [actor?.kind === 'you' && person?.kind === 'you' ? t.yourselfObject : object(person, t, 'Dative')];
    case 'organisation':
      return [organisation === null ? t.anOrganisation : { name: organisationName(organisation) }];
    case 'organisationDative':
      return [organisation === null ? t.anOrganisationDative : { name: organisationName(organisation) }];
    case 'Organisation':
      return [organisation === null ? t.yourOrganisation : { name: organisationName(organisation) }];
    case 'fromName':
      return [{ name: change?.from ?? '' }];
    case 'toName':
      return [{ name: change?.to ?? '' }];
    case 'from':
      return [roleWord(change?.from ?? '', t)];
    case 'to':
      return [roleWord(change?.to ?? '', t)];
    case 'role':
      return [roleWord(role ?? '', t)];
    case 'plan':
      return [plan ?? t.thePlan];
    default:
      return [plan ?? t.ThePlan];
  }
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
