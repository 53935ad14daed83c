import { actionFailure } from '#lib/forms/form-action.ts';
import { doneOf, requireOperatorConsole, sync } from '../console-links.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
  drift: await requireOperatorConsole(event).drift(),
  done: doneOf(event),
});

export const actions: Actions = {
  sync,
  compare: async (event) => {
    try {
      return { found: (await event.locals.api.operators.compareNow()).lines };
    } catch (error) {
      return actionFailure(event, error, () => ({}));
    }
  },
};
