import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';

/** The form action of every "Sync now" button. It leads back to the page with the button. */
export const sync = formAction(
  ({ operators }, form) => operators.syncNow({ subscription_id: text(form, 'subscription_id') }),
  {
    done: (_form, _answer, { url }) => url.pathname,
    notice: () => texts('eventDone').synced,
  },
);
