import type { App } from '../../app.ts';
import { englishOf, type Text } from '../../platform/errors.ts';
import type { Difference } from './sync-round.ts';

/** The result of a comparison with the provider. Subscriptions and organisations are named by their ids. */
export type Report = {
  subscriptions: number;
  /** Rows that differed from the provider or were missing, and now agree. */
  repaired: string[];
  /** The values in which the repaired rows differed. */
  drift: { subscription: string; differences: Difference[] }[];
  /** Subscriptions that could not be synced, and why. Their rows stay marked for a sync. */
  leftOut: { subscription: string; why: Text }[];
  /** Subscriptions whose metadata name an organisation that does not exist here, or whose customer is not the named one's. */
  unknownOrganisations: { subscription: string; organisation: string }[];
  severalLive: { organisation: string; subscriptions: string[] }[];
  /** Live subscriptions whose price belongs to no tier, or whose tier is known by our metadata alone. */
  unmappedPrices: { subscription: string; price: string | null; tier: string | null }[];
  /** Organisations whose customer was deleted at the provider. */
  deletedCustomers: { organisation: string; customer: string | null }[];
  /** Customers that the provider does not know under our key. They are not changed. */
  unknownCustomers: { organisation: string; customer: string | null }[];
  /** Live rows that the provider does not know or assigns to another customer. They are not changed. */
  problems: { subscription: string; problem: string }[];
};

/** Returns a report as lines of text: the summary, then the findings. */
export function linesOf(report: Report): string[] {
  return [summaryOf(report), ...findingsOf(report)];
}

/** Returns a line with the numbers of compared and repaired subscriptions. */
export function summaryOf({ subscriptions, repaired }: Report): string {
  return `${subscriptions} ${subscriptions === 1 ? 'subscription' : 'subscriptions'} compared, ${repaired.length} repaired.`;
}

/** Returns a line of text for each difference and each finding. None if all rows agree with the provider. */
export function findingsOf(report: Report): string[] {
  return [
    ...report.drift.map(
      ({ subscription, differences }) => `repaired: ${subscription} (${describeDifferences(differences)})`,
    ),
    ...report.leftOut.map(({ subscription, why }) => `not brought up to date: ${subscription} (${englishOf(why)})`),
    ...report.unknownOrganisations.map((each) => `unknown organisation: ${each.organisation} of ${each.subscription}`),
    ...report.severalLive.map(
      (each) => `several live subscriptions: ${each.organisation} (${each.subscriptions.join(', ')})`,
    ),
    ...report.unmappedPrices.map((each) =>
      each.tier === null
        ? `price of no tier: ${each.price} of ${each.subscription}`
        : `price known by metadata alone: ${each.price} of ${each.subscription}, taken for ${each.tier}`,
    ),
    ...report.deletedCustomers.map((each) => `customer gone: ${each.customer} of ${each.organisation}`),
    ...report.unknownCustomers.map((each) => `unknown to provider: ${each.customer} of ${each.organisation}`),
    ...report.problems.map((each) => `${each.problem.replaceAll('_', ' ')}: ${each.subscription}`),
  ];
}

function describeDifferences(differences: Difference[]): string {
  return differences.map(({ what, was, is }) => `${what} was ${was}, is ${is}`).join('; ');
}

/** Logs a report: a warning if it has findings. */
export function logReport(app: App, report: Report): void {
  if (findingsOf(report).length > 0)
    app.log.warn('The comparison with the payment provider found something.', { findings: linesOf(report) });
  else app.log.info('The payment provider and the local rows agree.', { subscriptions: report.subscriptions });
}
