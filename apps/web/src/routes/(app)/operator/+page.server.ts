import { error, fail, redirect } from '@sveltejs/kit';
import { refusal } from '#lib/server/refusal.ts';
import { requirePage } from '#lib/server/standing.ts';
import { text, texts } from '#lib/typed.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  if (!requirePage(event).user.operator) error(403, 'This page is for operators.');

  const { searchParams } = event.url;
  const search = searchParams.get('search')?.trim() ?? '';
  return {
    now: new Date().toISOString(),
    search,
    queue: await event.locals.api.operators.queue(search ? { search } : {}),
    declining: searchParams.get('ask') === 'decline' ? searchParams.getAll('organisation_ids') : [],
    done: { approved: Number(searchParams.get('approved')) || 0, declined: Number(searchParams.get('declined')) || 0 },
  };
};

export const actions: Actions = {
  approve: async ({ request, locals }) => {
    const form = await request.formData();
    const organisation_ids = texts(form, 'organisation_ids');

    try {
      await locals.api.operators.approve({ organisation_ids });
    } catch (refused) {
      const { status, body } = refusal(refused);
      return fail(status, { ...body, declining: [], reason: '' });
    }
    redirect(303, backToQueue(form, 'approved', organisation_ids));
  },

  decline: async ({ request, locals }) => {
    const form = await request.formData();
    const organisation_ids = texts(form, 'organisation_ids');
    const reason = text(form, 'reason');

    try {
      await locals.api.operators.decline({ organisation_ids, reason });
    } catch (refused) {
      const { status, body } = refusal(refused);
      return fail(status, { ...body, declining: organisation_ids, reason });
    }
    redirect(303, backToQueue(form, 'declined', organisation_ids));
  },
};

/** The list as it was searched, with the number of what was just decided. */
function backToQueue(form: FormData, decision: 'approved' | 'declined', ids: string[]): string {
  const search = text(form, 'search');
  const query = new URLSearchParams({ ...(search && { search }), [decision]: String(ids.length) });
  return `/operator?${query}`;
}
