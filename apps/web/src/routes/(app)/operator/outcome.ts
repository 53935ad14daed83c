import type { Operators } from './require-operator.ts';

type Action = { label: string; href: string } | { label: string; post: string; fields: Record<string, string> };

/** What an action did, for the notice on the page after it: "Larch & Sons is approved." */
export interface Outcome {
  /** The organisation or person; empty where there are several. */
  name: string;
  text: string;
  /** The id of the element that takes the focus; without one the notice takes it. */
  focus: string;
  action: Action | null;
}

const focusForm = /^(approve|decline|undo)-[\da-f-]{36}$/;

/** Returns the query that makes the page after a redirect say what was done. */
export function outcomeQuery(done: string, about: { id?: string; count?: number; focus?: string }): URLSearchParams {
  const { id, count, focus } = about;
  return new URLSearchParams({
    done,
    ...(id !== undefined && { id }),
    ...(count !== undefined && { count: String(count) }),
    ...(focus && focusForm.test(focus) && { focus }),
  });
}

/**
 * Returns the outcome that the query of a page of requests names. It reads the organisation's
 * name and status from the database, so that a link from elsewhere cannot claim what is not true.
 */
export async function requestOutcome({ searchParams }: URL, operators: Operators): Promise<Outcome | null> {
  const done = searchParams.get('done');
  const focus = searchParams.get('focus') ?? '';
  const known = { focus: focusForm.test(focus) ? focus : '', action: null };
  if (done === 'nothing') return { ...known, name: '', text: 'Someone else already decided this.' };

  const count = Number(searchParams.get('count'));
  if (Number.isInteger(count) && count > 1 && count <= 200 && (done === 'approved' || done === 'declined')) {
    const action = { label: 'Show them', href: '/operator/decided' };
    return { ...known, name: '', text: `${count} organisations are ${done}.`, action };
  }

  const organisation_id = searchParams.get('id') ?? '';
  const found = await operators.organisation({ organisation_id }).catch(() => null);
  if (found === null) return null;
  const name = found.name ?? found.slug;
  if (done === 'undone' && found.approval === 'pending') {
    return { ...known, name, text: 'waits for a decision again.' };
  }
  if (done !== found.approval) return null;
  const action = { label: 'Undo', post: '/operator/decided?/undo', fields: { organisation_id, from: 'queue' } };
  return { ...known, name, text: `is ${done}.`, action };
}

/** Returns the outcome of a suspension or its end, for the page of the person or organisation at `path`. */
export function suspensionOutcome(
  { searchParams }: URL,
  about: { name: string; suspended: boolean; path: string },
): Outcome | null {
  const { name, suspended, path } = about;
  const done = searchParams.get('done');
  if (done === 'suspended' && suspended) {
    const action = { label: 'Restore', post: `${path}?/restore`, fields: {} };
    return { name, text: 'is suspended.', focus: '', action };
  }
  return done === 'restored' && !suspended ? { name, text: 'is restored.', focus: '', action: null } : null;
}
