import { requireOperator } from '../../require-operator.ts';
import { sync } from '../sync-action.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const found = await requireOperator(event).event({ event_id: event.params.event });
  return { event: { ...found, payload: pretty(found.payload) } };
};

export const actions: Actions = { sync };

function pretty(payload: string | null): string | null {
  if (payload === null) return null;
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
