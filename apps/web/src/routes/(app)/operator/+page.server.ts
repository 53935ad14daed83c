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
    /** When the page was read whose requests are all to be declined; empty where only the named ones are. */
    decliningAll: searchParams.get('ask') === 'decline' ? (searchParams.get('all') ?? '') : '',
  };
};

export const actions: Actions = {
  approve: formAction(
    ({ operators }, form) => (form.has('all') ? operators.approveAll(allIn(form)) : operators.approve(chosenIn(form))),
    {
      done: pageOfForm,
      notice: (form, decided) => decisionNotice('approved', decided, formPage(form)),
      failure: () => ({ declining: [] as string[], decliningAll: '', reason: '' }),
    },
  ),

  decline: formAction(
    ({ operators }, form) => {
      const reason = text(form, 'reason');
      return form.has('all')
        ? operators.declineAll({ ...allIn(form), reason })
        : operators.decline({ ...chosenIn(form), reason });
    },
    {
      done: pageOfForm,
      notice: (form, decided) => decisionNotice('declined', decided, formPage(form)),
      failure: (form) => ({
        declining: chosenIn(form).organisation_ids,
        decliningAll: text(form, 'all'),
        reason: text(form, 'reason'),
      }),
    },
  ),
};

function chosenIn(form: FormData) {
  return { organisation_ids: textList(form, 'organisation_ids') };
}

/** All that the search of the page finds, in place of those that are ticked. */
function allIn(form: FormData) {
  return { search: text(form, 'search') || undefined, until: text(form, 'all') };
}

function formPage(form: FormData) {
  return { from: 'queue', search: text(form, 'search'), focus: text(form, 'next') } as const;
}

function pageOfForm(form: FormData): string {
  return queueHref({ search: text(form, 'search') });
}
