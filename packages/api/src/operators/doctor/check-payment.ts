import type { App } from '../../app.ts';
import { describeOtherMode, storedMode } from '../../billing/mode.ts';
import { missingTiers } from '../../billing/plans/missing-tiers.ts';
import { planOf, priceVariable } from '../../billing/plans/plans.ts';
import { lookUpPrices } from '../../billing/prices/live-prices.ts';
import { portalConfiguration } from '../../billing/prices/portal-configuration.ts';
import type { TierPrices } from '../../billing/prices/read-prices.ts';
import { pingDatabase } from '../../platform/db/health.ts';
import { formatAmount } from '../../platform/providers/minor-units.ts';
import { readAccount } from '../../platform/providers/payment/account.ts';
import { type Payment, providerErrorOf } from '../../platform/providers/payment/connection.ts';
import { missingPermissions, type Permission } from '../../platform/providers/payment/permissions.ts';
import { readPortal } from '../../platform/providers/payment/portal.ts';
import { checkTax } from './check-tax.ts';
import { type Finding, note, reasonOf, right, wrong } from './finding.ts';

/** Checks the payment provider's key, mode, clock, prices and portal configuration. */
export async function checkPayment(app: App): Promise<Finding[]> {
  const { payment } = app;
  if (payment === null) return [note('Payment provider', 'Billing is off, because PAYMENT_SECRET_KEY is not set.')];

  const lacking = await checkPermissions(app, payment);
  if (lacking.some(({ level }) => level === 'wrong')) return lacking;
  try {
    const key = await checkKey(app, payment);
    const prices = await lookUpPrices(app, payment.ask);
    return [
      ...key,
      ...lacking,
      ...(await checkRows(app, payment)),
      ...checkPrices(app, prices),
      await checkPortal(app, payment, prices),
      ...(await checkTax(app, payment, prices)),
    ];
  } catch (error) {
    return [findingOf(error)];
  }
}

function findingOf(error: unknown): Finding {
  const status = providerErrorOf(error)?.status;
  if (status === 401) {
    return wrong('Payment provider', 'It refuses the key. Copy PAYMENT_SECRET_KEY from the provider anew.');
  }
  if (status === 403) {
    const sentence = 'The key may not do what billing needs. Give it the permissions that docs/payment.md lists.';
    return wrong('Payment provider', sentence);
  }
  const sentence = `It does not answer as it should (${status ?? reasonOf(error)}). Look at its status page and at PAYMENT_API_URL.`;
  return wrong('Payment provider', sentence);
}

/**
 * Checks that a restricted key may do what billing needs, by requests that change nothing. Returns no line for a key
 * that may do everything, or that the provider does not answer about: other checks tell that.
 */
async function checkPermissions({ config }: App, payment: Payment): Promise<Finding[]> {
  if (!payment.isRestricted) return [];
  const about = 'Payment key';
  const missing = await missingPermissions(payment.ask).catch(() => []);
  const isNeeded = {
    disputes: config.disputes === 'end',
    tax: config.payment?.tax === true,
    pages: false,
    'billing-setup': false,
    doctor: false,
  };
  const needed = missing.filter(({ only }) => only === undefined || isNeeded[only]);
  const shown = missing.filter(({ only }) => only === 'pages');
  const listed = (some: Permission[]) => some.map(({ resource, level }) => `${resource} (${level})`).join(', ');
  const findings = [
    ...(needed.length > 0
      ? [wrong(about, `This restricted key lacks permissions: ${listed(needed)}. Give it them at the provider.`)]
      : []),
    ...(shown.length > 0
      ? [note(about, `This restricted key lacks permissions, so that pages show less: ${listed(shown)}.`)]
      : []),
    ...(['billing-setup', 'doctor'] as const).flatMap((command) => {
      const lacked = listed(missing.filter(({ only }) => only === command));
      return lacked === '' ? [] : [note(about, `For ${command} this restricted key lacks permissions: ${lacked}.`)];
    }),
  ];
  return findings.length > 0 ? findings : [right(about, 'This restricted key has the permissions that billing needs.')];
}

async function checkKey(app: App, { ask, mode }: Payment): Promise<Finding[]> {
  const { livemode, at } = await readAccount(ask);
  return [
    livemode === null || livemode === (mode === 'live')
      ? right('Payment provider', `It knows the key, which is of ${mode} mode.`)
      : wrong('Payment provider', `The key looks like ${mode} mode, but the provider’s data are of the other one.`),
    ...(mode === 'test' && app.config.publicBaseUrl?.startsWith('https:')
      ? [note('Payment mode', 'A test key on a public address: nobody pays with real money.')]
      : []),
    checkClock(app, at),
  ];
}

/** Checks that the database is of the key's mode, and for tiers that are paid for and missing in the plans. */
async function checkRows(app: App, { mode }: Payment): Promise<Finding[]> {
  const about = 'Payment mode';
  try {
    await pingDatabase(app.sql);
    const missing = (await missingTiers(app)).map((sentence) => wrong('Plans', sentence));
    const stored = await storedMode(app);
    return stored === null || stored === mode ? missing : [...missing, wrong(about, describeOtherMode(stored, mode))];
  } catch {
    return [note(about, 'The stored customers could not be checked, because the database cannot be read.')];
  }
}

/** Well below the 300 s from which the signatures of deliveries are refused. */
const alarmSeconds = 60;

function checkClock(app: App, providerSecond: number | null): Finding {
  if (providerSecond === null) return note('Clock', 'The payment provider’s answer has no Date to compare with.');

  const seconds = Math.round(app.now().getTime() / 1000 - providerSecond);
  if (Math.abs(seconds) <= alarmSeconds) return right('Clock', 'It agrees with the payment provider’s.');
  const direction = seconds > 0 ? 'ahead of' : 'behind';
  const sentence = `This machine’s clock is ${Math.abs(seconds)} s ${direction} the payment provider’s; from 300 s on, every event is refused. Set it by NTP.`;
  return wrong('Clock', sentence);
}

function checkPrices(app: App, prices: TierPrices): Finding[] {
  return prices.map(({ tier, interval, name, found }) => {
    const plan = planOf(app.plans, tier);
    const about = plan.hasOnePrice ? `Price of ${plan.name}` : `Price of ${plan.name} a ${interval}`;
    if (found === null) {
      const sentence = `The provider has no recurring price ${name}. Run the admin command billing-setup, or set ${priceVariable(tier)}.`;
      return wrong(about, sentence);
    }
    if (found.shown === null) {
      return wrong(about, `${name} has no fixed amount per day, week, month or year. Make one that has.`);
    }
    const { amounts, currency, interval: charged } = found.shown;
    const own = formatAmount({ amount: amounts[currency] ?? 0, currency });
    const missing = app.plans.currencies.filter((each) => amounts[each] === undefined);
    // A single price may be in any currency, which is then the only one.
    if (missing.length > 0 && app.plans.currencies.length > 1) {
      return wrong(
        about,
        `${name} has no amount in ${missing.join(', ')}. Add it at the provider by currency_options.`,
      );
    }
    return right(about, `${name} is ${own} a ${charged}.`);
  });
}

const about = 'Portal';
const remedy = 'Run the admin command billing-setup.';

/**
 * Checks whether the portal's configuration lets administrators change cards, see past
 * invoices, cancel at the end of the period and choose our prices, and charges upgrades at once.
 *
 * @throws AppError PROVIDER_UNAVAILABLE for any other reason than a missing configuration.
 */
async function checkPortal(app: App, { ask }: Payment, prices: TierPrices): Promise<Finding> {
  const configuration = await readConfiguration(app).catch(() => undefined);
  if (configuration === undefined) {
    return note(about, 'It could not be checked, because the database cannot be read.');
  }
  if (configuration === null) return wrong(about, `It was never configured from here. ${remedy}`);

  const portal = await readPortal(ask, configuration);
  if (portal === null) return wrong(about, `The provider does not know the configuration ${configuration}. ${remedy}`);
  const offersEach = prices.every(({ found }) => found === null || portal.offeredPrices.includes(found.id));
  const problems = [
    portal.isActive ? null : 'it is switched off',
    portal.changesCards ? null : 'cards cannot be changed',
    portal.showsInvoices ? null : 'past invoices cannot be seen',
    portal.cancelsAtPeriodEnd ? null : 'plans cannot be cancelled at the end of the period',
    portal.changesPlans ? null : 'plans cannot be changed',
    portal.invoicesAtOnce ? null : 'an upgrade is not charged when it happens',
    app.config.payment?.tax && !portal.changesDetails ? 'address and tax number cannot be changed' : null,
    portal.lowersLater ? null : 'a lower plan does not wait for the end of the paid period',
    portal.pausesSubscriptions ? 'subscriptions can be paused' : null,
    offersEach ? null : 'it offers other prices',
  ].filter((problem) => problem !== null);
  if (problems.length > 0) return wrong(about, `${configuration}: ${problems.join(', ')}. ${remedy}`);
  return right(about, `Configuration ${configuration} is as it should be.`);
}

async function readConfiguration(app: App): Promise<string | null> {
  await pingDatabase(app.sql);
  return portalConfiguration(app);
}
