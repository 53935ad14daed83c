import { reportTexts } from '#lib/messages/operator/report.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { translateError } from '#lib/server/language/translate-error.ts';
import { problemText } from '../event-text.ts';

type Report = RouterOutputs['operators']['compareNow'];

/** The findings of a comparison with the payment provider: a line that counts, and one for each finding. */
export function reportLines(report: Report): string[] {
  const t = reportTexts();
  return [
    t.compared(report.subscriptions, report.repaired.length),
    ...report.drift.map((each) => t.repaired(each.subscription, differencesText(each.differences))),
    ...report.leftOut.map((each) => t.leftOut(each.subscription, translateError(each.why, 'PROVIDER_UNAVAILABLE'))),
    ...report.unknownOrganisations.map((each) => t.unknownOrganisation(each.organisation, each.subscription)),
    ...report.severalLive.map((each) => t.severalLive(each.organisation, each.subscriptions.join(', '))),
    ...report.unmappedPrices.map(({ price, subscription, tier }) =>
      tier === null ? t.priceOfNoTier(price ?? '', subscription) : t.priceByMetadata(price ?? '', subscription, tier),
    ),
    ...report.deletedCustomers.map((each) => t.customerGone(each.customer ?? '', each.organisation)),
    ...report.unknownCustomers.map((each) => t.customerUnknown(each.customer ?? '', each.organisation)),
    ...report.problems.map((each) => t.problem(problemText(each.problem), each.subscription)),
  ];
}

function differencesText(differences: Report['drift'][number]['differences']): string {
  const t = reportTexts();
  const facts: Record<string, string> = t.facts;
  return differences.map(({ what, was, is }) => t.difference(facts[what] ?? what, was, is)).join('; ');
}
