import { refused } from '#lib/refused.ts';
import { doneOf, requireDesk, sync } from '../desk.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
  drift: await requireDesk(event).drift(),
  done: doneOf(event),
});

export const actions: Actions = {
  sync,
  compare: async (event) => {
    try {
      return { found: (await event.locals.api.operators.compareNow()).lines };
    } catch (error) {
      return refused(event, error, () => ({}));
    }
  },
};
