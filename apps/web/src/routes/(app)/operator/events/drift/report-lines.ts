import { texts } from '#lib/language/texts.ts';
import type { RouterOutputs } from '#lib/router.ts';
import { sentenceOf } from '#lib/server/language/page-error.ts';
import { problemText } from '../event-text.ts';

type Report = RouterOutputs['operators']['compareNow'];

/** The findings of a comparison with the payment provider: a line that counts, and one for each finding. */
export function reportLines(report: Report): string[] {
  const t = texts('report');
  return [
    t.compared({ count: report.subscriptions, repaired: report.repaired.length }),
    ...report.drift.map((each) =>
      t.repaired({ subscription: each.subscription, differences: differencesText(each.differences) }),
    ),
    ...report.leftOut.map((each) =>
      t.leftOut({ subscription: each.subscription, why: sentenceOf(each.why, 'PROVIDER_UNAVAILABLE') }),
    ),
    ...report.unknownOrganisations.map((each) =>
      t.unknownOrganisation({ organisation: each.organisation, subscription: each.subscription }),
    ),
    ...report.severalLive.map((each) =>
      t.severalLive({ organisation: each.organisation, subscriptions: each.subscriptions.join(', ') }),
    ),
    ...report.unmappedPrices.map(({ price, subscription, tier }) =>
      tier === null
        ? t.priceOfNoTier({ price: price ?? '', subscription })
        : t.priceByMetadata({ price: price ?? '', subscription, tier }),
    ),
    ...report.deletedCustomers.map((each) =>
      t.customerGone({ customer: each.customer ?? '', organisation: each.organisation }),
    ),
    ...report.unknownCustomers.map((each) =>
      t.customerUnknown({ customer: each.customer ?? '', organisation: each.organisation }),
    ),
    ...report.problems.map((each) =>
      t.problem({ problem: problemText(each.problem), subscription: each.subscription }),
    ),
  ];
}

function differencesText(differences: Report['drift'][number]['differences']): string {
  const t = texts('report');
  const facts: Record<string, string> = t.facts;
  return differences.map(({ what, was, is }) => t.difference({ what: facts[what] ?? what, was, is })).join('; ');
}
