import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import { queueHref } from '../queue/queue-href.ts';
import { listQuery, requireOperator } from '../require-operator.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const operators = requireOperator(event);
  const { after } = listQuery(event.url);
  return {
    now: new Date().toISOString(),
    later: after !== undefined,
    list: await operators.decided(after === undefined ? {} : { after }),
  };
};

export const actions: Actions = {
  undo: formAction(
    ({ operators }, form) =>
      operators.undoDecision({
        organisation_id: text(form, 'organisation_id'),
        decided_at: text(form, 'decided_at'),
      }),
    {
      done: (form, { id }) => pageOfForm(form, id),
      notice: (form, { name }) => ({
        text: texts('requestDone').waitsAgain({ name: named(name) }),
        focus: text(form, 'next'),
      }),
    },
  ),

  /** Undoes what was decided at once: the notice about it has the button. */
  undoSeveral: formAction(({ operators }, form) => operators.undoDecisions({ decided_at: text(form, 'decided_at') }), {
    done: (form) => pageOfForm(form, ''),
    notice: (_form, { undone, kept }) => {
      const t = texts('requestDone');
      const lines = [t.severalWait({ count: undone }), ...(kept > 0 ? [t.severalKept({ count: kept })] : [])];
      return { text: lines.join(' '), tone: undone > 0 ? 'good' : 'warn' };
    },
  }),
};

/** The page with the Undo button: the queue or an organisation, whose notices have one, else the list of decided requests. */
function pageOfForm(form: FormData, id: string): string {
  const from = text(form, 'from');
  if (from === 'queue') return queueHref({ search: text(form, 'search') });
  return from === 'organisation' ? `/operator/organisations/${id}` : '/operator/decided';
}
