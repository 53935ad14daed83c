import { error as httpError, redirect } from '@sveltejs/kit';
import { actionFailure } from '#lib/forms/form-action.ts';
import { formFields, text, texts } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  if (!requirePage(event).user.operator) httpError(403, 'This page is for operators.');

  const { searchParams } = event.url;
  const search = searchParams.get('search')?.trim() ?? '';
  return {
    now: new Date().toISOString(),
    search,
    queue: await event.locals.api.operators.queue(search ? { search } : {}),
    declining: searchParams.get('ask') === 'decline' ? searchParams.getAll('organisation_ids') : [],
    approved: decided(searchParams.get('approved')),
    declined: decided(searchParams.get('declined')),
  };
};

export const actions: Actions = {
  approve: async (event) => {
    const form = await formFields(event.request);
    const organisation_ids = texts(form, 'organisation_ids');

    let changed: number;
    try {
      ({ changed } = await event.locals.api.operators.approve({ organisation_ids }));
    } catch (error) {
      return actionFailure(event, error, () => ({ declining: [], reason: '' }));
    }
    redirect(303, queueHref(form, 'approved', changed));
  },

  decline: async (event) => {
    const form = await formFields(event.request);
    const organisation_ids = texts(form, 'organisation_ids');
    const reason = text(form, 'reason');

    let changed: number;
    try {
      ({ changed } = await event.locals.api.operators.decline({ organisation_ids, reason }));
    } catch (error) {
      return actionFailure(event, error, () => ({ declining: organisation_ids, reason }));
    }
    redirect(303, queueHref(form, 'declined', changed));
  },
};

/** Returns the URL of the queue with its search and the number of organisations that were just decided. */
function queueHref(form: FormData, decision: 'approved' | 'declined', count: number): string {
  const search = text(form, 'search');
  const query = new URLSearchParams({ ...(search && { search }), [decision]: String(count) });
  return `/operator?${query}`;
}

/** Parses how many organisations a decision changed: 0 if another operator was first, null without a decision. */
function decided(count: string | null): number | null {
  return count !== null && /^\d{1,3}$/.test(count) ? Number(count) : null;
}
