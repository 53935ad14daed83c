import { requirePage } from '#lib/server/guards/page-guard.ts';
import { sessionActions } from '#lib/server/http/account-actions.ts';
import type { Actions, PageServerLoad } from './$types';

const page = '/account/security';

/** What the page says after the redirect, by the form that was posted. */
const doneTexts: Record<string, string> = {
  session: 'That session has ended.',
  sessions: 'You are signed out everywhere else.',
};

export const load: PageServerLoad = async (event) => {
  requirePage(event);
  const { accounts } = event.locals.api;
  const [profile, activity] = await Promise.all([accounts.profile(), accounts.activity()]);
  const done = event.url.searchParams.get('done') ?? '';
  return {
    now: new Date().toISOString(),
    profile,
    activity,
    done: Object.hasOwn(doneTexts, done) ? doneTexts[done] : null,
  };
};

export const actions: Actions = sessionActions(page);
