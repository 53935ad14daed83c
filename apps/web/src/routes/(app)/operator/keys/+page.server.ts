import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { keptKey, keyIn, typedKey } from '#lib/keys/key-form.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import { requireOperator } from '../require-operator.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
  const keys = await requireOperator(event).keys();
  const revoked = event.url.searchParams.get('revoke');
  return {
    now: new Date().toISOString(),
    keys,
    typed: keptKey(event.url),
    revoking: keys.find(({ id, state }) => id === revoked && state === 'valid') ?? null,
  };
};

export const actions: Actions = {
  /** The key is shown once, on the page that answers the form: only its hash is stored. */
  create: formAction(({ operators }, form) => operators.createKey(keyIn<'READ' | 'WRITE' | 'MANAGE'>(form)), {
    done: (_form, created) => ({ created }),
    failure: (form) => ({ created: null, typed: typedKey(form) }),
  }),
  revoke: formAction(({ operators }, form) => operators.revokeKey({ id: text(form, 'id') }), {
    done: '/operator/keys',
    notice: (form) => texts('keyDone').revoked({ name: named(text(form, 'display_name')) }),
    failure: () => ({ created: null }),
  }),
};
