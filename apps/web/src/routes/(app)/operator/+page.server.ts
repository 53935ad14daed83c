import { error as httpError } from '@sveltejs/kit';
import { formAction } from '#lib/forms/form-action.ts';
import { text, texts } from '#lib/forms/form-fields.ts';
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
  approve: formAction(
    ({ operators }, form) => operators.approve({ organisation_ids: texts(form, 'organisation_ids') }),
    {
      done: (form, { changed }) => queueHref(form, 'approved', changed),
      failure: () => ({ declining: [] as string[], reason: '' }),
    },
  ),

  decline: formAction(({ operators }, form) => operators.decline(decliningIn(form)), {
    done: (form, { changed }) => queueHref(form, 'declined', changed),
    failure: (form) => {
      const { organisation_ids, reason } = decliningIn(form);
      return { declining: organisation_ids, reason };
    },
  }),
};

function decliningIn(form: FormData) {
  return { organisation_ids: texts(form, 'organisation_ids'), reason: text(form, 'reason') };
}

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
