import { type RequestEvent, redirect } from '@sveltejs/kit';
import type { Role } from '#lib/format/role-text.ts';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

/** What was just done, as the page says it after the redirect. */
const doneInWords: Record<string, string> = {
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
  const [members, invitations, summary] = await Promise.all([
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
      invitations,
      seats: {
        planName: summary.plan.name,
        limit: summary.usage.find(({ meter }) => meter === 'members')?.limit ?? null,
      },
      removing: administers ? (members.find(({ id }) => id === searchParams.get('remove')) ?? null) : null,
      leaving: searchParams.has('leave'),
      done: Object.hasOwn(doneInWords, done) ? doneInWords[done] : null,
    },
  };
};

type Members = App.Locals['api']['members'];

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: it rests nowhere in clear. */
  invite: async (event) => {
    const form = await formFields(event.request);
    try {
      const { url, role, expires_at } = await event.locals.api.members.invite({
        organisation_id: text(form, 'organisation_id'),
        role: text(form, 'role') as Exclude<Role, 'owner'>,
      });
      return { link: { url, role, expires_at } };
    } catch (error) {
      return actionFailure(event, error, () => ({ link: null }));
    }
  },
  withdraw: (event) =>
    act(event, '/members?done=withdrawn', (form, members) => members.withdraw({ id: text(form, 'id') })),
  changeRole: (event) =>
    act(event, '/members?done=role', (form, members) =>
      members.changeRole({ ...memberOf(form), role: text(form, 'role') as Role }),
    ),
  remove: (event) => act(event, '/members?done=removed', (form, members) => members.remove(memberOf(form))),
  leave: (event) =>
    act(event, '/', (form, members) => members.leave({ organisation_id: text(form, 'organisation_id') })),
};

function memberOf(form: FormData) {
  return { organisation_id: text(form, 'organisation_id'), user_id: text(form, 'user_id') };
}

async function act(event: RequestEvent, after: string, call: (form: FormData, members: Members) => Promise<unknown>) {
  const form = await formFields(event.request);
  try {
    await call(form, event.locals.api.members);
  } catch (error) {
    return actionFailure(event, error, () => ({ link: null }));
  }
  redirect(303, after);
}
