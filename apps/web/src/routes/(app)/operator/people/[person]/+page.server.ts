import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { suspensionOutcome } from '../../outcome.ts';
import { requireOperator } from '../../require-operator.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const account = await operators.person({ user_id: event.params.person });
  const about = { name: account.email, suspended: account.suspended, path: `/operator/people/${account.id}` };
  return {
    now: new Date().toISOString(),
    // Not named `person`: the layout's data has that name for the signed-in user.
    account,
    outcome: suspensionOutcome(event.url, about),
    suspending: event.url.searchParams.get('ask') === 'suspend',
  };
};

export const actions: Actions = {
  /** The link is shown once, on the page that answers the form: only its hash is stored. */
  passwordLink: formAction(
    ({ operators }, _form, { params }) => operators.passwordLink({ user_id: params.person ?? '' }),
    { done: (_form, { url }) => ({ link: url }), failure: () => ({ link: null, reason: null }) },
  ),

  suspend: formAction(
    ({ operators }, form, { params }) =>
      operators.suspend({ user_id: params.person ?? '', reason: text(form, 'reason') }),
    {
      done: (_form, { id }) => `/operator/people/${id}?done=suspended`,
      failure: (form) => ({ link: null, reason: text(form, 'reason') }),
    },
  ),

  restore: formAction(({ operators }, _form, { params }) => operators.restore({ user_id: params.person ?? '' }), {
    done: (_form, { id }) => `/operator/people/${id}?done=restored`,
    failure: () => ({ link: null, reason: null }),
  }),
};
