import { formAction } from '#lib/forms/form-action.ts';
import { text, texts } from '#lib/forms/form-fields.ts';
import type { Actions, PageServerLoad } from './$types';
import { outcomeQuery, requestOutcome } from './outcome.ts';
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
    outcome: await requestOutcome(event.url, operators),
    declining: searchParams.get('ask') === 'decline' ? searchParams.getAll('organisation_ids') : [],
  };
};

export const actions: Actions = {
  approve: formAction(
    ({ operators }, form) => operators.approve({ organisation_ids: texts(form, 'organisation_ids') }),
    {
      done: (form, decided) => queueHref(form, decided, 'approved'),
      failure: () => ({ declining: [] as string[], reason: '' }),
    },
  ),

  decline: formAction(({ operators }, form) => operators.decline(decliningIn(form)), {
    done: (form, decided) => queueHref(form, decided, 'declined'),
    failure: (form) => {
      const { organisation_ids, reason } = decliningIn(form);
      return { declining: organisation_ids, reason };
    },
  }),
};

function decliningIn(form: FormData) {
  return { organisation_ids: texts(form, 'organisation_ids'), reason: text(form, 'reason') };
}

type Decided = { changed: number; first: { id: string; name: string } | null };

/** Returns the URL of the queue with its search and the outcome. The action of the row that the form names takes the focus. */
function queueHref(form: FormData, { changed, first }: Decided, decision: 'approved' | 'declined'): string {
  const about = { ...(first !== null && { id: first.id }), count: changed, focus: text(form, 'next') };
  const query = outcomeQuery(first === null ? 'nothing' : decision, about);
  const search = text(form, 'search');
  if (search) query.set('search', search);
  return `/operator?${query}`;
}
