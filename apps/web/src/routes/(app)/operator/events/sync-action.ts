import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { eventDoneTexts } from '#lib/messages/operator/events.ts';

/** The form action of every "Sync now" button. It leads back to the page with the button. */
export const sync = formAction(
  ({ operators }, form) => operators.syncNow({ subscription_id: text(form, 'subscription_id') }),
  {
    done: (_form, _answer, { url }) => url.pathname,
    notice: () => eventDoneTexts().synced(),
  },
);
