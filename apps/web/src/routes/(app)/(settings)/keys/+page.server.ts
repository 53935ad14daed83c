import { error as httpError } from '@sveltejs/kit';
import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { keptKey, keyIn, typedKey } from '#lib/keys/key-form.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const { organisation, scopes } = requirePage(event);
  if (organisation === null || !scopes.includes('ADMIN')) httpError(403, 'This page is for owners and admins.');

  const keys = await event.locals.api.keys.list();
  const revoked = event.url.searchParams.get('revoke');
  return {
    now: new Date().toISOString(),
    organisation: { id: organisation.id, displayName: organisationName(organisation) },
    keys,
    typed: keptKey(event.url),
    revoking: keys.find(({ id, state }) => id === revoked && state === 'valid') ?? null,
  };
};

export const actions: Actions = {
  /** The key is shown once, on the page that answers the form: only its hash is stored. */
  create: formAction(
    ({ keys }, form) => keys.create({ ...keyIn(form), organisation_id: text(form, 'organisation_id') }),
    {
      ofOrganisation: true,
      done: (_form, created) => ({ created }),
      failure: (form) => ({ created: null, typed: typedKey(form) }),
    },
  ),
  revoke: formAction(({ keys }, form) => keys.revoke({ id: text(form, 'id') }), {
    ofOrganisation: true,
    done: '/keys',
    notice: (form) => texts('keyDone').revoked({ name: named(text(form, 'display_name')) }),
    failure: () => ({ created: null }),
  }),
};
