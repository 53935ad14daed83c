import { redirect } from '@sveltejs/kit';
import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text } from '#lib/forms/form-fields.ts';
import { requirePage } from '#lib/server/guards/page-guard.ts';
import type { Actions, PageServerLoad } from './$types';
import { cancelledText, keptText } from './cancellation-text.ts';
import { confirmAfterCheckout, confirmationOf } from './confirmation.ts';
import { shownHistory } from './usage-chart.ts';

export const load: PageServerLoad = async (event) => {
  const { organisation, scopes } = requirePage(event);
  if (!organisation) return { organisation: null };

  const { api, app } = event.locals;
  const { searchParams } = event.url;
  const isAdministrator = scopes.includes('ADMIN');
  const mayPay = isAdministrator && app.payment !== null;
  if (mayPay) await confirmAfterCheckout(event);

  const [tier, interval] = [searchParams.get('tier'), searchParams.get('interval')];
  const isChanging = mayPay && searchParams.get('ask') === 'change';
  const [{ notice, history, ...summary }, invoices, estimate] = await Promise.all([
    api.subscription.overviewWithHistory(),
    mayPay ? api.billing.invoices() : null,
    isChanging ? api.billing.estimate({ tier, interval }) : null,
  ]);
  return {
    organisation: {
      id: organisation.id,
      name: organisationName(organisation),
      isAdministrator,
      confirmation: mayPay ? confirmationOf(event, summary.plan) : null,
      summary,
      history: shownHistory(history),
      notice,
      invoices,
      now: app.now().toISOString(),
      checkout: searchParams.get('checkout'),
      interval,
      changing: isChanging ? { tier, interval, estimate } : null,
      cancelling: isAdministrator && searchParams.get('ask') === 'cancel',
    },
  };
};

export const actions: Actions = {
  checkout: redirectToProvider((billing, form) =>
    billing.checkout({ tier: text(form, 'tier'), ...intervalIn(form), ...organisationIn(form) }),
  ),
  currency: formAction(
    ({ billing }, form) => billing.currency({ currency: text(form, 'currency'), ...organisationIn(form) }),
    { ofOrganisation: true, done: '/billing' },
  ),
  portal: redirectToProvider((billing, form) => billing.portal({ page: text(form, 'page'), ...organisationIn(form) })),
  cancel: formAction(({ billing }, form) => billing.cancel(organisationIn(form)), {
    ofOrganisation: true,
    done: '/billing',
    notice: (_form, record, { locals }) => cancelledText(record, locals.app.plans),
  }),
  resume: formAction(keepPlan, {
    ofOrganisation: true,
    done: '/billing',
    notice: (_form, record, { locals }) => keptText(record, locals.app.plans),
  }),
};

type Billing = App.Locals['api']['billing'];

/**
 * Every form of the page names its organisation, because another tab may have switched since. A form of a program
 * that names none concerns the current organisation, as at the JSON endpoints.
 */
function organisationIn(form: FormData) {
  return form.has('organisation_id') ? { organisation_id: text(form, 'organisation_id') } : {};
}

/** A form without an interval buys the tier's first one. */
function intervalIn(form: FormData) {
  return form.has('interval') ? { interval: text(form, 'interval') } : {};
}

/** Resumes the plan, and says whether that also gave up a change that was planned. */
async function keepPlan({ billing, subscription }: App.Locals['api'], form: FormData) {
  const { change } = (await subscription.overview()).plan;
  return { ...(await billing.resume(organisationIn(form))), hadChange: change !== null };
}

/** Returns an action that redirects to a page of the payment provider, whose URL `open` returns. */
function redirectToProvider(open: (billing: Billing, form: FormData) => Promise<{ url: string }>) {
  return formAction(({ billing }, form) => open(billing, form), {
    ofOrganisation: true,
    done: (_form, { url }) => redirect(303, url, { external: true }),
  });
}
