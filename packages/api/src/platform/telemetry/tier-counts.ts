import type { Sql } from 'postgres';
import type { Level } from './metrics.ts';

const maximumAgeMilliseconds = 60_000;

export type TierCounts = {
  /** The last counts. Starts to count again if they are older than a minute, without waiting for it. */
  read: () => Level[];
};

/**
 * Counts the organisations with a subscription that has not ended, by tier. The count reads every
 * subscription, so a scrape does not wait for it. Nothing is counted before the first scrape.
 */
export function createTierCounts(sql: Sql, tiers: string[]): TierCounts {
  let counts: Level[] = [];
  let startedAt = Number.NEGATIVE_INFINITY;

  async function count(): Promise<void> {
    const rows = await sql<{ tier: string; organisations: number }[]>`
      select tier, count(*)::float8 as organisations
      from (select distinct tier, organisation_id from payment_subscriptions where not ended and tier is not null) subscribed
      group by tier`;
    const byTier = new Map(tiers.map((tier) => [tier, 0]));
    for (const { tier, organisations } of rows) byTier.set(tier, organisations);
    counts = [...byTier].map(([tier, value]) => ({
      name: 'gatehouse_organisations_subscribed',
      labels: { tier },
      value,
    }));
  }

  return {
    read() {
      if (performance.now() - startedAt > maximumAgeMilliseconds) {
        startedAt = performance.now();
        // If the query fails, the last counts stay.
        count().catch(() => {});
      }
      return counts;
    },
  };
}
