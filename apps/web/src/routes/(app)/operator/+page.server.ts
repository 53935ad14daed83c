import { formAction } from '#lib/forms/form-action.ts';
import { text, textList } from '#lib/forms/form-fields.ts';
import type { Actions, PageServerLoad } from './$types';
import { decisionNotice } from './queue/decision-notice.ts';
import { queueHref } from './queue/queue-href.ts';
import { listQuery, requireOperator } from './require-operator.ts';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const { searchParams } = event.url;
  const query = listQuery(event.url);
  return {
    now: new Date().toISOString(),
    search: query.search ?? '',
    later: query.after !== undefined,
    queue: await operators.queue(query),
    withoutFactor: await operators.withoutFactor(),
    declining: searchParams.get('ask') === 'decline' ? searchParams.getAll('organisation_ids') : [],
  };
};

export const actions: Actions = {
  approve: formAction(
    ({ operators }, form) => operators.approve({ organisation_ids: textList(form, 'organisation_ids') }),
    {
      done: pageOfForm,
      notice: (form, decided) => decisionNotice('approved', decided, formPage(form)),
      failure: () => ({ declining: [] as string[], reason: '' }),
    },
  ),

  decline: formAction(({ operators }, form) => operators.decline(decliningIn(form)), {
    done: pageOfForm,
    notice: (form, decided) => decisionNotice('declined', decided, formPage(form)),
    failure: (form) => {
      const { organisation_ids, reason } = decliningIn(form);
      return { declining: organisation_ids, reason };
    },
  }),
};

function decliningIn(form: FormData) {
  return { organisation_ids: textList(form, 'organisation_ids'), reason: text(form, 'reason') };
}

function formPage(form: FormData) {
  return { from: 'queue', search: text(form, 'search'), focus: text(form, 'next') } as const;
}

function pageOfForm(form: FormData): string {
  return queueHref({ search: text(form, 'search') });
}
