import { redirect } from '@sveltejs/kit';
import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';
import { cancelledText, keptText } from './cancellation-text.ts';
import { askForPayment, confirmationOf } from './confirmation.ts';
import { shownHistory } from './usage-chart.ts';

export const load: PageServerLoad = async (event) => {
  const { organisation, scopes } = requirePage(event);
  if (!organisation) return { here: null };

  const { api, app } = event.locals;
  const { searchParams } = event.url;
  const administers = scopes.includes('ADMIN');
  const paying = administers && app.payment !== null;
  if (paying) await askForPayment(event);

  const { notice, history, ...summary } = await api.subscription.overviewWithHistory();
  return {
    here: {
      id: organisation.id,
      name: organisationName(organisation),
      administers,
      confirmation: paying ? confirmationOf(event, summary.plan) : null,
      summary,
      history: shownHistory(history),
      notice,
      returned: searchParams.get('checkout'),
      askingToCancel: administers && searchParams.get('ask') === 'cancel',
    },
  };
};

export const actions: Actions = {
  checkout: leaveFor((billing, form) => billing.checkout({ tier: text(form, 'tier'), ...organisationIn(form) })),
  portal: leaveFor((billing, form) => billing.portal(organisationIn(form))),
  cancel: formAction(({ billing }, form) => billing.cancel(organisationIn(form)), {
    done: '/billing',
    notice: (_form, record, { locals }) => cancelledText(record, locals.app.plans),
  }),
  resume: formAction(({ billing }, form) => billing.resume(organisationIn(form)), {
    done: '/billing',
    notice: (_form, record, { locals }) => keptText(record, locals.app.plans),
  }),
};

type Billing = App.Locals['api']['billing'];

/**
 * Every form of the page names its organisation, because another tab may have changed it since. A form of a program
 * that names none concerns the current one, as at the JSON endpoints.
 */
function organisationIn(form: FormData) {
  return form.has('organisation_id') ? { organisation_id: text(form, 'organisation_id') } : {};
}

/** The provider's page is on another origin: the only redirects of this service that leave it. */
function leaveFor(ask: (billing: Billing, form: FormData) => Promise<{ url: string }>) {
  return formAction(({ billing }, form) => ask(billing, form), {
    done: (_form, { url }) => redirect(303, url, { external: true }),
  });
}
