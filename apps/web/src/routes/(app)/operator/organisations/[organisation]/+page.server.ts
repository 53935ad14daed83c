import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { outcomeQuery, requestOutcome, suspensionOutcome } from '../../outcome.ts';
import { requireOperator } from '../../require-operator.ts';
import { nameOf } from '../../status-text.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const found = await operators.organisation({ organisation_id: event.params.organisation });
  const path = `/operator/organisations/${found.id}`;
  const about = { name: nameOf(found), suspended: found.suspended_at !== null, path };
  return {
    now: new Date().toISOString(),
    // Not named `organisation`: forms and layouts have that name for the operator's own.
    found,
    outcome: suspensionOutcome(event.url, about) ?? (await requestOutcome(event.url, operators)),
    suspending: event.url.searchParams.get('ask') === 'suspend',
  };
};

export const actions: Actions = {
  suspend: formAction(
    ({ operators }, form, { params }) =>
      operators.suspendOrganisation({ organisation_id: params.organisation ?? '', reason: text(form, 'reason') }),
    {
      done: (_form, { id }) => `/operator/organisations/${id}?done=suspended`,
      failure: (form) => ({ reason: text(form, 'reason') }),
    },
  ),

  restore: formAction(
    ({ operators }, _form, { params }) => operators.restoreOrganisation({ organisation_id: params.organisation ?? '' }),
    {
      done: (_form, { id }) => `/operator/organisations/${id}?done=restored`,
      failure: () => ({ reason: null }),
    },
  ),

  approve: formAction(
    ({ operators }, _form, { params }) => operators.approve({ organisation_ids: [params.organisation ?? ''] }),
    {
      done: (_form, { first }, { params }) =>
        `/operator/organisations/${params.organisation}?${outcomeQuery(first === null ? 'nothing' : 'approved', { id: params.organisation ?? '' })}`,
      failure: () => ({ reason: null }),
    },
  ),
};
