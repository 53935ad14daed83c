import type { Caller } from '@gatehouse/api/router/root';
import type { InvitedRole, Role } from '#lib/format/role-text.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

/** What the page says after the redirect, by the form that was posted. */
const doneTexts: Record<string, string> = {
  role: 'The role is changed. It holds from their next click on.',
  removed: 'They are no longer a member. Their account stays.',
  withdrawn: 'The invitation is withdrawn: its link does nothing any more.',
};

export const load: PageServerLoad = async (event) => {
  const { user, organisation, role, scopes } = requirePage(event);
  if (!organisation) return { here: null };

  const { api } = event.locals;
  const { searchParams } = event.url;
  const administers = scopes.includes('ADMIN');
  const [{ members, total, is_only_owner }, invitations, summary] = await Promise.all([
    api.members.list(),
    administers ? api.members.invitations() : [],
    api.subscription.read(),
  ]);
  const done = searchParams.get('done') ?? '';
  return {
    here: {
      id: organisation.id,
      name: organisation.name ?? organisation.slug,
      administers,
      you: { id: user.id, role },
      members,
      total,
      isOnlyOwner: is_only_owner,
      invitations,
      seats: {
        planName: summary.plan.name,
        limit: summary.usage.find(({ meter }) => meter === 'members')?.limit ?? null,
      },
      removing: administers ? (members.find(({ id }) => id === searchParams.get('remove')) ?? null) : null,
      leaving: searchParams.has('leave'),
      done: Object.hasOwn(doneTexts, done) ? doneTexts[done] : null,
    },
  };
};

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: only its hash is stored. */
  invite: formAction(
    ({ members }, form) => members.invite({ ...organisationOf(form), role: text(form, 'role') as InvitedRole }),
    {
      done: (_form, { url, role, expires_at }) => ({ link: { url, role, expires_at } }),
      failure: () => ({ link: null }),
    },
  ),
  withdraw: memberAction('/members?done=withdrawn', (members, form) => members.withdraw({ id: text(form, 'id') })),
  changeRole: memberAction('/members?done=role', (members, form) =>
    members.changeRole({ ...memberOf(form), role: text(form, 'role') as Role }),
  ),
  remove: memberAction('/members?done=removed', (members, form) => members.remove(memberOf(form))),
  leave: memberAction('/', (members, form) => members.leave(organisationOf(form))),
};

function memberAction(done: string, call: (members: Caller['members'], form: FormData) => Promise<unknown>) {
  return formAction(({ members }, form) => call(members, form), { done, failure: () => ({ link: null }) });
}

function organisationOf(form: FormData) {
  return { organisation_id: text(form, 'organisation_id') };
}

function memberOf(form: FormData) {
  return { ...organisationOf(form), user_id: text(form, 'user_id') };
}
