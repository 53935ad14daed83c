import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import { suspendedNotice } from '../../parts/suspended-notice.ts';
import { idOf, requireOperator } from '../../require-operator.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const account = await operators.person({ user_id: idOf(event.params.person) });
  return {
    now: new Date().toISOString(),
    // Not named `user`: the layout's data has that name for the signed-in user.
    account,
    suspending: event.url.searchParams.get('ask') === 'suspend',
    resetting: event.url.searchParams.get('ask') === 'reset',
    erasing: event.url.searchParams.get('ask') === 'erase',
    /** Whether the data can be downloaded once the operator is confirmed: see export/+server.ts. */
    exporting: event.url.searchParams.get('ask') === 'export',
  };
};

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: only its hash is stored. */
  passwordLink: formAction(
    ({ operators }, form, { params }) =>
      operators.passwordLink({ user_id: params.person ?? '', ...typedPassword(form) }),
    { done: (_form, { url }) => ({ link: url }), failure: () => ({ link: null, reason: null }) },
  ),

  /** Takes the second factors away. The operator's session must be fresh by a factor, which this page asks for. */
  resetFactor: formAction(
    ({ operators }, _form, { params }) => operators.resetSecondFactor({ user_id: params.person ?? '' }),
    {
      done: (_form, _answer, { url }) => url.pathname,
      notice: () => texts('accountAdminDone').factorsReset,
      failure: () => ({ link: null, reason: null, resetting: true }),
    },
  ),

  endSessions: formAction(
    ({ operators }, _form, { params }) => operators.endSessions({ user_id: params.person ?? '' }),
    {
      done: (_form, _answer, { url }) => url.pathname,
      notice: (_form, { email }) => texts('accountAdminDone').signedOut({ name: named(email) }),
      failure: () => ({ link: null, reason: null }),
    },
  ),

  erase: formAction(
    ({ operators }, form, { params }) =>
      operators.erase({
        user_id: params.person ?? '',
        with_members: ticked(form, 'with_members'),
        keep_keys: ticked(form, 'keep_keys'),
        ...typedPassword(form),
      }),
    {
      done: '/operator/people',
      notice: () => texts('accountAdminDone').erased,
      failure: () => ({ link: null, reason: null, erasing: true }),
    },
  ),

  suspend: formAction(
    ({ operators }, form, { params }) =>
      operators.suspend({
        user_id: params.person ?? '',
        reason: text(form, 'reason'),
        keep_keys: ticked(form, 'keep_keys'),
      }),
    {
      done: (_form, { id }) => `/operator/people/${id}`,
      notice: (_form, user) => suspendedNotice(user.email, `/operator/people/${user.id}`, user, user.ended),
      failure: (form) => ({ link: null, reason: text(form, 'reason') }),
    },
  ),

  restore: formAction(
    ({ operators }, form, { params }) =>
      operators.restore({ user_id: params.person ?? '', suspended_at: text(form, 'suspended_at') }),
    {
      done: (_form, { id }) => `/operator/people/${id}`,
      notice: (_form, { email }) => texts('accountAdminDone').restored({ name: named(email) }),
      failure: () => ({ link: null, reason: null }),
    },
  ),
};
