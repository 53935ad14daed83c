import { doneOf, requireDesk, sync } from '../desk.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => ({
  drift: await requireDesk(event).drift(),
  done: doneOf(event),
});

export const actions: Actions = { sync };
