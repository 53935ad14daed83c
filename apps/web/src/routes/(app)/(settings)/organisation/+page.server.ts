import { formatDate } from '#lib/format/dates.ts';
import { organisationName } from '#lib/format/organisation-name.ts';
import { formAction } from '#lib/forms/form-action.ts';
import { text, ticked, typedPassword } from '#lib/forms/form-fields.ts';
import { texts } from '#lib/language/texts.ts';
import { named } from '#lib/notices/notice.ts';
import { requirePage, signedInUser } from '#lib/server/guards/page-guard.ts';
import { localPage } from '#lib/server/session/local-path.ts';
import type { Actions, PageServerLoad } from './$types';

/** Which form was posted, so that the page shows its errors beside its own fields. */
type FormName = 'switch' | 'create' | 'withdraw' | 'rename' | 'contact' | 'second_factor' | 'transfer' | 'delete';

export const load: PageServerLoad = async (event) => {
  const { organisation, role, scopes, user } = requirePage(event);
  if (!organisation) return { now: '', organisation: null, creating: null };

  const { members, organisations, subscription } = event.locals.api;
  // A form that failed without a script is on the action's URL.
  if (['create', '/create', '/withdraw'].some((name) => event.url.searchParams.has(name))) {
    const mine = await organisations.mine();
    const waiting = mine.find((each) => each.approval === 'pending' && each.role === 'owner') ?? null;
    return { now: '', organisation: null, creating: { current: organisationName(organisation), waiting } };
  }
  const isOwner = role === 'owner';
  const ask = event.url.searchParams.get('ask');
  const today = event.locals.app.now().toISOString().slice(0, 10);
  const [settings, overview, page, rule] = await Promise.all([
    organisations.read(),
    subscription.overview(),
    isOwner ? members.search() : null,
    scopes.includes('ADMIN') ? organisations.secondFactorRule() : null,
  ]);
  return {
    now: new Date().toISOString(),
    creating: null,
    organisation: {
      ...settings,
      displayName: organisationName(settings),
      isAdministrator: scopes.includes('ADMIN'),
      isOwner,
      /** The first members who could become owner, as suggestions. */
      candidates: (page?.members ?? []).filter((each) => each.role !== 'owner' && each.id !== user.id),
      /** Whether there are more members than that. */
      hasMore: Boolean(page?.next),
      /** How many other members there are. */
      others: (page?.total ?? 1) - 1,
      plan: overview.plan.tier === 'free' ? null : overview.plan.name,
      /** What was typed before the way through the identity provider. */
      kept: event.url.searchParams.get('email'),
      keptFrom: event.url.searchParams.get('from'),
      /** For administrators: since when members need a second factor, and who has none. */
      secondFactor: rule && { ...rule, today, begun: rule.from !== null && rule.from <= today },
      /** The dialog that is open, by the URL. */
      dialog: isOwner && (ask === 'transfer' || ask === 'delete') ? ask : null,
    },
  };
};

export const actions: Actions = {
  /** Switches the organisation and returns to the page that had the menu. */
  switch: formAction(
    ({ organisations }, form) => organisations.switch({ organisation_id: text(form, 'organisation_id') }),
    { done: (form, _answer, { url }) => localPage(text(form, 'from'), url), failure: failureOf('switch') },
  ),
  create: formAction(({ organisations }, form) => organisations.create({ org_name: text(form, 'org_name') }), {
    done: (_form, { awaiting_approval }, { locals }) =>
      awaiting_approval && !signedInUser(locals)?.organisation ? '/awaiting-approval' : '/',
    notice: (form, { awaiting_approval }, { locals }) => {
      const current = signedInUser(locals)?.organisation;
      if (!awaiting_approval || !current) return null;
      const names = { name: named(text(form, 'org_name').trim()), current: named(organisationName(current)) };
      return texts('organisationDone').requested(names);
    },
    failure: failureOf('create'),
  }),
  withdraw: formAction(
    ({ organisations }, form) => organisations.withdraw({ ...organisationOf(form), ...typedPassword(form) }),
    {
      done: '/organisation',
      notice: (form) => texts('organisationDone').withdrawn({ name: named(text(form, 'display_name')) }),
      failure: failureOf('withdraw'),
    },
  ),
  rename: formAction(
    ({ organisations }, form) =>
      organisations.rename({ ...organisationOf(form), name: text(form, 'name'), shown: text(form, 'shown') }),
    {
      ofOrganisation: true,
      done: '/organisation',
      notice: (form) => ({
        text: texts('organisationDone').renamed({ name: named(text(form, 'name').trim()) }),
        row: 'name-row',
      }),
      failure: failureOf('rename'),
    },
  ),
  contact: formAction(
    ({ organisations }, form) =>
      organisations.changeBillingContact({
        ...organisationOf(form),
        email: text(form, 'email').trim(),
        shown: text(form, 'shown'),
      }),
    {
      ofOrganisation: true,
      done: '/organisation',
      notice: (form) => ({
        text:
          text(form, 'email').trim() === ''
            ? texts('organisationDone').contactEmptied
            : texts('organisationDone').contactChanged({ email: named(text(form, 'email').trim()) }),
        row: 'contact-row',
      }),
      failure: failureOf('contact'),
    },
  ),
  second_factor: formAction(
    ({ organisations }, form) =>
      organisations.requireSecondFactor({ ...organisationOf(form), from: firstDay(form), ...typedPassword(form) }),
    {
      ofOrganisation: true,
      done: '/organisation',
      notice: (form) => ({
        text:
          firstDay(form) === ''
            ? texts('organisationDone').factorNotRequired
            : texts('organisationDone').factorRequired({ day: named(formatDate(firstDay(form))) }),
        row: 'factor-row',
      }),
      failure: failureOf('second_factor'),
    },
  ),
  transfer: formAction(
    ({ organisations }, form) =>
      organisations.transfer({ ...organisationOf(form), email: text(form, 'email'), ...typedPassword(form) }),
    {
      ofOrganisation: true,
      done: '/organisation',
      notice: (form) => texts('organisationDone').transferred({ email: named(text(form, 'email').trim()) }),
      failure: failureOf('transfer'),
    },
  ),
  delete: formAction(
    ({ leaving }, form) => leaving.deleteOrganisation({ ...organisationOf(form), ...typedPassword(form) }),
    {
      ofOrganisation: true,
      done: '/',
      notice: (form) => texts('organisationDone').deleted({ name: named(text(form, 'display_name')) }),
      failure: failureOf('delete'),
    },
  ),
};

function failureOf(formName: FormName) {
  return (form: FormData) => ({
    formName,
    typed: {
      name: text(form, 'name'),
      org_name: text(form, 'org_name'),
      email: text(form, 'email'),
      from: text(form, 'from'),
    },
  });
}

/** The first day on which members need a second factor; empty where the button that ends it was pressed. */
function firstDay(form: FormData): string {
  return ticked(form, 'end') ? '' : text(form, 'from') || 'none';
}

function organisationOf(form: FormData) {
  return { organisation_id: text(form, 'organisation_id') };
}
