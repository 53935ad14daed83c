import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import { decideAnew, decidePlan, storePlan } from '../../billing/entitlement/decide-plan.ts';
import { type Override, type OverrideRow, shownOverride, standing } from '../../billing/entitlement/override.ts';
import { rankOf } from '../../billing/entitlement/rank-subscriptions.ts';
import { planOf, type Tier } from '../../billing/plans/plans.ts';
import { readRows } from '../../billing/subscription/subscription-rows.ts';
import { lockOrganisation } from '../../organisations/organisation.ts';
import { type Agreed, planOverrides } from '../../platform/db/schema/billing.ts';
import { endOfDay, storableTime } from '../../platform/durations.ts';
import { invalid } from '../../platform/errors.ts';
import { message, zodMessage } from '../../platform/messages.ts';
import { freeLine } from '../../platform/security/text.ts';
import type { Actor } from '../actor.ts';
import { readOrganisationNames } from '../find-accounts.ts';
import { organisationInput } from './read-organisations.ts';

/** The days of grace that may be agreed: a year, so that a slip of a key gives nobody the plan for ever. */
const maxGraceDays = 366;
const maxLimit = 2 ** 53 - 1;

const until = z.union(
  [
    z.iso.date().transform(endOfDay),
    z.iso.datetime({ offset: true }).transform((text) => storableTime(Date.parse(text))),
  ],
  { error: zodMessage('override_until') },
);
const limit = z
  .int(zodMessage('override_limit'))
  .min(0, zodMessage('override_limit'))
  .max(maxLimit, zodMessage('override_limit'));

/** An override, as operators and services state it. A date alone ends with its day, in UTC. A limit of null is unlimited. */
export const overrideFields = z.strictObject({
  tier: z.string().nullish(),
  limits: z.record(z.string(), limit.nullable()).optional(),
  features: z.record(z.string(), z.boolean()).optional(),
  grace_days: z
    .int(zodMessage('override_grace', { maximum: maxGraceDays }))
    .min(0, zodMessage('override_grace', { maximum: maxGraceDays }))
    .max(maxGraceDays, zodMessage('override_grace', { maximum: maxGraceDays }))
    .nullish(),
  reason: freeLine(300).refine((reason) => reason !== '', zodMessage('override_reason')),
  until: until.nullish(),
});

type OverrideFields = z.output<typeof overrideFields>;
type Named = Awaited<ReturnType<typeof readOrganisationNames>>;

export const setOverrideInput = overrideFields
  .extend(organisationInput.shape)
  .transform(({ organisation_id: organisationId, ...fields }) => ({ organisationId, ...fields }));
export const endOverrideInput = organisationInput.transform(({ organisation_id: organisationId }) => ({
  organisationId,
}));

/**
 * States what was agreed with an organisation beside its subscriptions, in place of an earlier override. It only adds:
 * the higher of its tier and the subscription's counts, and so does the higher limit. The provider is not asked and not
 * told. The plan is decided anew and its change recorded in the feed, in the same transaction.
 *
 * @returns the override, and which of its parts change nothing now, because the plan gives as much already.
 * @throws AppError NOT_FOUND; VALIDATION for an unknown tier, meter or feature, for an override that gives nothing, and
 *   for an end that has passed.
 */
export async function setOverride(
  app: App,
  { organisationId, ...fields }: OverrideFields & { organisationId: string },
  actor: Actor,
): Promise<Named & { override: Override; withoutEffect: string[] }> {
  const now = app.now();
  checkNames(app, fields);
  if (fields.until != null && fields.until <= now) throw invalid({ until: message('override_over') });
  const { tier = null, reason } = fields;
  const agreed: Agreed = {
    limits: fields.limits ?? {},
    features: fields.features ?? {},
    graceDays: fields.grace_days ?? null,
    until: fields.until?.toISOString() ?? null,
  };
  if (tier === null && isEmpty(agreed)) throw invalid({ reason: message('override_empty') });

  return app.db.transaction(async (tx) => {
    await lockOrganisation(tx, organisationId);
    const named = await readOrganisationNames(tx, organisationId);
    const row = { organisationId, tier, agreed, reason, setAt: now };
    await tx.insert(planOverrides).values(row).onConflictDoUpdate({ target: planOverrides.organisationId, set: row });
    const stored = await readRows(tx, { organisationId });
    await storePlan(app, tx, organisationId, stored);
    await recordAudit(tx, now, { action: 'override-set', ...actor, organisationId, details: detailsOf(row) });
    const without = decidePlan(app, { rows: stored.rows, override: null }, now);
    return { ...named, override: shownOverride(row), withoutEffect: withoutEffect(app, row, without.tier) };
  });
}

/**
 * Ends an organisation's override, if there is one.
 *
 * @throws AppError NOT_FOUND if there is no such organisation.
 */
export async function endOverride(
  app: App,
  { organisationId }: { organisationId: string },
  actor: Actor,
): Promise<Named & { ended: boolean }> {
  return app.db.transaction(async (tx) => {
    await lockOrganisation(tx, organisationId);
    const named = await readOrganisationNames(tx, organisationId);
    const [row] = await tx.delete(planOverrides).where(eq(planOverrides.organisationId, organisationId)).returning();
    const now = app.now();
    if (standing(row ?? null, now) === null) return { ...named, ended: false };
    await decideAnew(app, tx, organisationId);
    await recordAudit(tx, now, { action: 'override-ended', ...actor, organisationId });
    return { ...named, ended: true };
  });
}

function checkNames({ plans }: App, { tier, limits = {}, features = {} }: OverrideFields): void {
  const [first] = plans.tiers;
  if (tier != null && !plans.tiers.some((each) => each.tier === tier))
    throw invalid({ tier: 'There is no such tier.' });
  for (const meter of Object.keys(limits)) {
    if (!Object.hasOwn(first.limits, meter)) throw invalid({ [`limits.${meter}`]: 'There is no such meter.' });
  }
  for (const feature of Object.keys(features)) {
    if (!Object.hasOwn(first.features, feature))
      throw invalid({ [`features.${feature}`]: 'There is no such feature.' });
  }
}

function isEmpty({ limits, features, graceDays }: Agreed): boolean {
  return Object.keys(limits).length === 0 && Object.keys(features).length === 0 && graceDays === null;
}

/** Names the parts of an override that add nothing to the tier that the organisation has without it. */
function withoutEffect({ plans, config }: App, { tier, agreed }: OverrideRow, paid: Tier): string[] {
  const isLower = tier !== null && rankOf(plans, tier) <= rankOf(plans, paid);
  const given = planOf(plans, tier === null || isLower ? paid : tier);
  const limits = Object.entries(agreed.limits).filter(([meter, limit]) => {
    const own = given.limits[meter] ?? null;
    return own === null || (limit !== null && limit <= own);
  });
  const features = Object.entries(agreed.features).filter(([name, has]) => !has || given.features[name] === true);
  const grace = agreed.graceDays !== null && agreed.graceDays <= config.pastDueGraceDays;
  return [
    ...(isLower ? [`tier ${tier}`] : []),
    ...limits.map(([meter]) => `limit ${meter}`),
    ...features.map(([name]) => `feature ${name}`),
    ...(grace ? ['days of grace'] : []),
  ];
}

/** The details of the audit entry, as text. */
function detailsOf({ tier, agreed: { limits, features, graceDays, until: end }, reason }: OverrideRow) {
  const parts = {
    tier,
    limits: textOf(limits, (limit) => (limit === null ? 'none' : String(limit))),
    features: textOf(features, String),
    grace_days: graceDays === null ? null : String(graceDays),
    until: end,
    reason,
  };
  const given = Object.entries(parts).filter((part): part is [string, string] => part[1] !== null);
  return Object.fromEntries(given);
}

function textOf<Value>(values: Record<string, Value>, textFor: (value: Value) => string): string | null {
  const entries = Object.entries(values).map(([name, value]) => `${name}=${textFor(value)}`);
  return entries.length === 0 ? null : entries.join(' ');
}
