import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import { suspendedNotice } from '../../parts/suspended-notice.ts';
import { decisionNotice } from '../../queue/decision-notice.ts';
import { idOf, requireOperator } from '../../require-operator.ts';
import type { Actions, PageServerLoad } from './$types';
import { overrideInput, postedOverride } from './override-form.ts';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  return {
    now: new Date().toISOString(),
    organisation: await operators.organisation({ organisation_id: idOf(event.params.organisation) }),
    suspending: event.url.searchParams.get('ask') === 'suspend',
    overriding: event.url.searchParams.get('ask') === 'override',
  };
};

export const actions: Actions = {
  suspend: formAction(
    ({ operators }, form, { params }) =>
      operators.suspendOrganisation({ organisation_id: params.organisation ?? '', reason: text(form, 'reason') }),
    {
      done: (_form, { id }) => hrefOf(id),
      notice: (_form, organisation) =>
        suspendedNotice(organisationName(organisation), hrefOf(organisation.id), organisation),
      failure: (form) => ({ reason: text(form, 'reason') }),
    },
  ),

  override: formAction(
    ({ operators }, form, { params }) =>
      operators.setOverride({
        organisation_id: params.organisation ?? '',
        ...overrideInput(postedOverride(form)),
      }),
    {
      done: (_form, _set, { params }) => hrefOf(params.organisation ?? ''),
      notice: (_form, { name, slug, without_effect: parts }) =>
        parts.length === 0
          ? texts('overrideDone').saved({ name: named(organisationName({ name, slug })) })
          : texts('overrideDone').idle,
      failure: (form) => ({ override: postedOverride(form), reason: null }),
    },
  ),

  endOverride: formAction(
    ({ operators }, _form, { params }) => operators.endOverride({ organisation_id: params.organisation ?? '' }),
    {
      done: (_form, { id }) => hrefOf(id),
      notice: (_form, organisation) => texts('overrideDone').ended({ name: named(organisationName(organisation)) }),
      failure: () => ({ reason: null }),
    },
  ),

  restore: formAction(
    ({ operators }, form, { params }) =>
      operators.restoreOrganisation({
        organisation_id: params.organisation ?? '',
        suspended_at: text(form, 'suspended_at'),
      }),
    {
      done: (_form, { id }) => hrefOf(id),
      notice: (_form, organisation) =>
        texts('accountAdminDone').restored({ name: named(organisationName(organisation)) }),
      failure: () => ({ reason: null }),
    },
  ),

  approve: formAction(
    ({ operators }, form, { params }) =>
      operators.approve({
        organisation_ids: [params.organisation ?? ''],
        // A page that shows no decline ends none.
        declined_at: text(form, 'declined_at') || undefined,
      }),
    {
      done: (_form, _decided, { params }) => hrefOf(params.organisation ?? ''),
      notice: (_form, decided) => decisionNotice('approved', decided, { from: 'organisation' }),
      failure: () => ({ reason: null }),
    },
  ),
};

function hrefOf(id: string): string {
  return `/operator/organisations/${id}`;
}
