import type { Caller } from '@gatehouse/api/router/root';
import { withEnded } from '#lib/format/ended-text.ts';
import { organisationName } from '#lib/format/organisation-name.ts';
import { type InvitedRole, type Role, roleWithArticle } from '#lib/format/role-text.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';
import { pageHref } from './page-href.ts';

export const load: PageServerLoad = async (event) => {
  const { user, organisation, role, scopes } = requirePage(event);
  if (!organisation) return { organisation: null, changing: null, keptInvitation: undefined };

  const { api } = event.locals;
  const { searchParams } = event.url;
  const isAdministrator = scopes.includes('ADMIN');
  const position = { search: searchParams.get('q')?.trim() ?? '', after: searchParams.get('after') };
  const [page, invitations, summary] = await Promise.all([
    api.members.search({ search: position.search || undefined, after: position.after ?? undefined }),
    isAdministrator ? api.members.invitations() : [],
    api.subscription.overview(),
  ]);
  const removing = isAdministrator ? page.members.find(({ id }) => id === searchParams.get('remove')) : undefined;
  const isLeaving = searchParams.has('leave');
  return {
    now: new Date().toISOString(),
    ...keptFields(searchParams),
    organisation: {
      id: organisation.id,
      name: organisationName(organisation),
      isAdministrator,
      you: { id: user.id, role },
      ...page,
      position,
      invitations,
      seats: {
        planName: summary.plan.name,
        limit: summary.usage.find(({ meter }) => meter === 'members')?.limit ?? null,
      },
      removing: removing ? { ...removing, started: await api.members.startedBy({ user_id: removing.id }) } : null,
      /** What ends with the membership; null where the page does not ask, and for an only owner. */
      leaving: isLeaving ? await api.members.ownStarted() : null,
      inviting: isAdministrator && searchParams.has('invite'),
    },
  };
};

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: only its hash is stored. */
  invite: formAction(
    ({ members }, form) =>
      members.invite({
        ...organisationOf(form),
        role: text(form, 'role') as InvitedRole,
        note: text(form, 'note'),
        ...typedPassword(form),
      }),
    {
      ofOrganisation: true,
      done: (_form, { url, role, note, expires_at }) => ({ link: { url, role, note, expires_at } }),
      failure: (form) => ({ link: null, typed: { note: text(form, 'note'), role: text(form, 'role') } }),
    },
  ),
  withdraw: formAction(({ members }, form) => members.withdraw({ id: text(form, 'id') }), {
    ofOrganisation: true,
    done: '/members',
    notice: (form) => ({ text: texts('memberDone').revoked, focus: text(form, 'next') }),
    failure: () => ({ link: null }),
  }),
  /** A role without ADMIN ends what the member made here: the answer lists it before, where there is anything. */
  changeRole: formAction(
    async ({ members }, form) => {
      const started = await startedUnlisted(members, form);
      if (started !== null) return { started };
      const keepsKeys = ticked(form, 'keep_keys');
      return members.changeRole({
        ...memberOf(form),
        role: roleIn(form),
        keep_keys: keepsKeys,
        ...typedPassword(form),
      });
    },
    {
      ofOrganisation: true,
      done: (form, answer) =>
        'started' in answer ? { link: null, changing: chosen(form, answer.started) } : pageOfForm(form),
      notice: (form, answer) =>
        'started' in answer
          ? null
          : {
              text: withEnded(
                texts('memberDone').isNow({
                  member: named(text(form, 'display_name')),
                  role: roleWithArticle(roleIn(form)),
                }),
                answer.ended,
              ),
              focus: `change-${text(form, 'user_id')}`,
            },
      failure: (form) => ({ link: null, changing: chosen(form, null) }),
    },
  ),
  remove: formAction(
    ({ members }, form) => members.remove({ ...memberOf(form), keep_keys: ticked(form, 'keep_keys') }),
    {
      ofOrganisation: true,
      done: pageOfForm,
      notice: (form, { ended }) => ({
        text: withEnded(texts('memberDone').removed({ member: named(text(form, 'display_name')) }), ended),
        focus: text(form, 'next'),
      }),
      failure: () => ({ link: null }),
    },
  ),
  leave: formAction(
    ({ members }, form) => members.leave({ ...organisationOf(form), revoke_keys: ticked(form, 'revoke_keys') }),
    {
      ofOrganisation: true,
      done: '/',
      notice: (form, { ended }) =>
        withEnded(texts('memberDone').left({ organisation: named(text(form, 'display_name')) }), ended),
      failure: () => ({ link: null }),
    },
  ),
};

type Started = RouterOutputs['members']['startedBy'];

function roleIn(form: FormData): Role {
  return text(form, 'role') as Role;
}

/** The role that was chosen for a member, and what ends with it. */
function chosen(form: FormData, started: Started | null) {
  return { id: text(form, 'user_id'), role: roleIn(form), started };
}

/** What would end with a member's new role, unless there is nothing or the form has listed it. */
async function startedUnlisted(members: Caller['members'], form: FormData): Promise<Started | null> {
  const keepsAdmin = !['member', 'viewer'].includes(roleIn(form));
  if (keepsAdmin || form.has('listed')) return null;
  const started = await members.startedBy({ user_id: text(form, 'user_id') });
  return started.keys.length + started.invitations + started.links === 0 ? null : started;
}

/** What was typed into a form of this page before the way through the identity provider. */
function keptFields(query: URLSearchParams) {
  const role = query.get('role') ?? '';
  const id = query.get('user_id');
  return {
    changing: id === null ? null : { id, role: role as Role, started: null },
    keptInvitation: query.has('note') ? { note: query.get('note') ?? '', role } : undefined,
  };
}

/** The page of the list that had the form. */
function pageOfForm(form: FormData): string {
  return pageHref({ search: text(form, 'q'), after: text(form, 'after') || null });
}

function organisationOf(form: FormData) {
  return { organisation_id: text(form, 'organisation_id') };
}

function memberOf(form: FormData) {
  return { ...organisationOf(form), user_id: text(form, 'user_id') };
}
