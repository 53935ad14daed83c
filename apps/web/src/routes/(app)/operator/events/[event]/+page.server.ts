import { formAction } from '#lib/forms/form-action.ts';
import { eventDoneTexts } from '#lib/messages/operator/events.ts';
import { requireOperator } from '../../require-operator.ts';
import { sync } from '../sync-action.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const found = await requireOperator(event).event({ event_id: event.params.event });
  return { event: { ...found, payload: pretty(found.payload) } };
};

export const actions: Actions = {
  applyAgain: formAction(({ operators }, _form, { params }) => operators.applyAgain({ event_id: params.event ?? '' }), {
    done: (_form, _answer, { url }) => url.pathname,
    notice: () => eventDoneTexts().applied(),
  }),
  sync,
};

function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
