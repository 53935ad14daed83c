import { requireOperator } from '../../require-operator.ts';
import { consoleAction, doneOf, sync } from '../console-links.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const found = await requireOperator(event).event({ event_id: event.params.event });
  return { event: { ...found, payload: pretty(found.payload) }, done: doneOf(event) };
};

export const actions: Actions = {
  applyAgain: consoleAction('applied', (operators, _form, { params }) =>
    operators.applyAgain({ event_id: params.event ?? '' }),
  ),
  sync,
};

function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
