import type { RouterInputs, RouterOutputs } from '#lib/router.ts';

type Override = RouterOutputs['operators']['organisation']['override'];
type OverrideInput = Omit<RouterInputs['operators']['setOverride'], 'organisation_id'>;

/** The override as its form shows it: what was typed. */
export type TypedOverride = {
  tier: string;
  limits: Record<string, string>;
  features: string[];
  graceDays: string;
  until: string;
  reason: string;
};

const prefixes = { limits: 'limits.', features: 'features.' };

/** Returns what the form shows of an override that is stored. The end is its last day, in UTC. */
export function typedOverride(override: Override): TypedOverride {
  const { tier = '', limits = {}, features = {}, grace_days: graceDays = null, until = null } = override ?? {};
  const numbers = Object.entries(limits).map(([meter, limit]) => [meter, limit === null ? 'none' : String(limit)]);
  return {
    tier: tier ?? '',
    limits: Object.fromEntries(numbers),
    features: Object.entries(features).flatMap(([name, has]) => (has ? [name] : [])),
    graceDays: graceDays === null ? '' : String(graceDays),
    until: until === null ? '' : lastDay(until),
    reason: override?.reason ?? '',
  };
}

/** A time at midnight ends the day before; any other time is shown whole. */
function lastDay(until: string): string {
  if (!until.endsWith('T00:00:00.000Z')) return until;
  return new Date(Date.parse(until) - 1).toISOString().slice(0, 10);
}

/** Returns what was posted, as it was typed. */
export function postedOverride(form: FormData): TypedOverride {
  const given = [...form].flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value.trim()] as const] : [],
  );
  const text = (name: string) => given.find(([each]) => each === name)?.[1] ?? '';
  const below = (prefix: string) =>
    given.flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : []));
  return {
    tier: text('tier'),
    limits: Object.fromEntries(below(prefixes.limits)),
    features: below(prefixes.features).map(([name]) => name),
    graceDays: text('grace_days'),
    until: text('until'),
    reason: text('reason'),
  };
}

/** Returns the input of the procedure. What is no number stays text, which the procedure refuses by name. */
export function overrideInput({ tier, limits, features, graceDays, until, reason }: TypedOverride): OverrideInput {
  const number = (text: string) => (/^\d+$/.test(text) ? Number(text) : Number.NaN);
  const given = Object.entries(limits).flatMap(([meter, text]) => {
    return text === '' ? [] : [[meter, text === 'none' ? null : number(text)] as const];
  });
  return {
    ...(tier !== '' && { tier }),
    limits: Object.fromEntries(given),
    features: Object.fromEntries(features.map((name) => [name, true])),
    ...(graceDays !== '' && { grace_days: number(graceDays) }),
    ...(until !== '' && { until }),
    reason,
  };
}
