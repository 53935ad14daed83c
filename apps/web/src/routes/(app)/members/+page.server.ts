import { type InvitedRole, inASentence, type Role } from '#lib/format/role-text.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';
import { type Place, pageHref } from './page-href.ts';

export const load: PageServerLoad = async (event) => {
  const { user, organisation, role, scopes } = requirePage(event);
  if (!organisation) return { here: null };

  const { api } = event.locals;
  const { searchParams } = event.url;
  const administers = scopes.includes('ADMIN');
  const place = { search: searchParams.get('q')?.trim() ?? '', after: searchParams.get('after') };
  const [page, invitations, summary] = await Promise.all([
    api.members.list({ search: place.search || undefined, after: place.after ?? undefined }),
    administers ? api.members.invitations() : [],
    api.subscription.overview(),
  ]);
  return {
    now: new Date().toISOString(),
    here: {
      id: organisation.id,
      name: organisation.name ?? organisation.slug,
      administers,
      you: { id: user.id, role },
      ...page,
      place,
      invitations,
      seats: {
        planName: summary.plan.name,
        limit: summary.usage.find(({ meter }) => meter === 'members')?.limit ?? null,
      },
      removing: administers ? (page.members.find(({ id }) => id === searchParams.get('remove')) ?? null) : null,
      leaving: searchParams.has('leave'),
      inviting: administers && searchParams.has('invite'),
      done: doneText(searchParams, page.members),
      focus: searchParams.get('focus'),
    },
  };
};

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: only its hash is stored. */
  invite: formAction(
    ({ members }, form) =>
      members.invite({ ...organisationOf(form), role: text(form, 'role') as InvitedRole, note: text(form, 'note') }),
    {
      done: (_form, { url, role, note, expires_at }) => ({ link: { url, role, note, expires_at } }),
      failure: (form) => ({ link: null, typed: { note: text(form, 'note'), role: text(form, 'role') } }),
    },
  ),
  withdraw: formAction(({ members }, form) => members.withdraw({ id: text(form, 'id') }), {
    done: (form) => pageHref(nowhere, { done: 'revoked', focus: text(form, 'next') }),
    failure: () => ({ link: null }),
  }),
  changeRole: formAction(
    ({ members }, form) => members.changeRole({ ...memberOf(form), role: text(form, 'role') as Role }),
    {
      done: (form) => {
        const id = text(form, 'user_id');
        return pageHref(placeIn(form), { done: 'role', of: id, focus: `change-${id}` });
      },
      failure: () => ({ link: null }),
    },
  ),
  remove: formAction(({ members }, form) => members.remove(memberOf(form)), {
    done: (form) => pageHref(placeIn(form), { done: 'removed', focus: text(form, 'next') }),
    failure: () => ({ link: null }),
  }),
  leave: formAction(({ members }, form) => members.leave(organisationOf(form)), {
    done: '/',
    failure: () => ({ link: null }),
  }),
};

const nowhere: Place = { search: '', after: null };

/** The page of the list that had the form. */
function placeIn(form: FormData): Place {
  return { search: text(form, 'q'), after: text(form, 'after') || null };
}

/** What the page says after the redirect, by the form that was posted: by what is stored, never by words of the address. */
function doneText(
  parameters: URLSearchParams,
  members: { id: string; name: string | null; email: string; role: Role }[],
) {
  const member = members.find(({ id }) => id === parameters.get('of'));
  switch (parameters.get('done')) {
    case 'role':
      return member ? `${member.name ?? member.email} is now ${inASentence(member.role)}.` : 'The role is changed.';
    case 'removed':
      return 'They are no longer a member. Their account stays.';
    case 'revoked':
      return 'The invitation is revoked.';
    default:
      return null;
  }
}

function organisationOf(form: FormData) {
  return { organisation_id: text(form, 'organisation_id') };
}

function memberOf(form: FormData) {
  return { ...organisationOf(form), user_id: text(form, 'user_id') };
}
