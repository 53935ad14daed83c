import { z } from 'zod';
import { readableTarget, targetField, writableTarget, writableTargets } from '../auth/sessions/target-organisation.ts';
import { keyKindOf } from '../billing/usage/count.ts';
import { endHold } from '../billing/usage/holds.ts';
import { readHistory } from '../billing/usage/read-history.ts';
import { report } from '../billing/usage/report-usage.ts';
import { release, reserve } from '../billing/usage/reserve.ts';
import { setGauge } from '../billing/usage/set-gauge.ts';
import {
  gaugeValueInput,
  holdInput,
  maxRecords,
  requireRecentTimes,
  reservationInput,
  usageDaysInput,
  usageRecordInput,
  usageRequestInput,
} from '../billing/usage/usage-input.ts';
import { body, bodyWith } from './body.ts';
import { anyPrincipalProcedure, operatorsKeyProcedure, router, writingKeyProcedure } from './trpc.ts';

const ofOrganisation = { organisation: targetField };
const meterField = z.string('A meter is required.');
const tooMany = `A report has at most ${maxRecords.toLocaleString('en-GB')} records.`;
const recordInput = usageRecordInput.extend(ofOrganisation);
const releaseInput = usageRequestInput.extend(ofOrganisation);

/** Each procedure finds the organisation that the principal may act for, and calls one use case. */
export const usageRouter = router({
  reserve: writingKeyProcedure
    .input(body(reservationInput.extend(ofOrganisation)))
    .mutation(async ({ ctx, input }) =>
      reserve(
        ctx.app,
        await writableTarget(ctx.app, ctx.principal, input.organisation),
        input,
        keyKindOf(ctx.principal),
      ),
    ),
  release: writingKeyProcedure.input(bodyWith('hold', holdInput, releaseInput)).mutation(async ({ ctx, input }) => {
    if ('hold' in input) return endHold(ctx.app, ctx.principal, input, 'released');
    const target = await writableTarget(ctx.app, ctx.principal, input.organisation);
    return release(ctx.app, target, input, keyKindOf(ctx.principal));
  }),
  commit: writingKeyProcedure
    .input(body(holdInput))
    .mutation(({ ctx, input }) => endHold(ctx.app, ctx.principal, input, 'committed')),
  report: operatorsKeyProcedure
    .input(body(z.strictObject({ records: z.array(recordInput, 'The records are a list.').max(maxRecords, tooMany) })))
    .mutation(async ({ ctx, input: { records } }) => {
      requireRecentTimes(ctx.app, Object.fromEntries(records.map((record, at) => [`records.${at}.at`, record.at])));
      const references = records.map(({ organisation }) => organisation);
      const targets = await writableTargets(ctx.app, ctx.principal, references);
      const named = records.map((record, at) => ({ ...record, organisationId: targets[at]?.organisationId ?? '' }));
      return report(ctx.app, named);
    }),
  set: operatorsKeyProcedure
    .input(body(gaugeValueInput.extend({ ...ofOrganisation, meter: meterField })))
    .mutation(async ({ ctx, input }) => {
      requireRecentTimes(ctx.app, { at: input.at });
      const target = await writableTarget(ctx.app, ctx.principal, input.organisation);
      return setGauge(ctx.app, target, input.meter, input);
    }),
  read: anyPrincipalProcedure('READ')
    .input(body(z.object({ ...ofOrganisation, meter: meterField, days: usageDaysInput })))
    .query(async ({ ctx, input }) => {
      const target = await readableTarget(ctx.app, ctx.principal, input.organisation);
      return readHistory(ctx.app, target, input.meter, input.days);
    }),
});
