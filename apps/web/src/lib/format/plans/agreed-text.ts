import { formatDate } from '#lib/format/dates.ts';
import { formatList } from '#lib/format/lists.ts';
import { language } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';
import type { Plan, Usage } from '#lib/subscription.ts';
import { featureName, limitText } from './tier-text.ts';

/** The moment before an end: what ends at midnight is there on the day before it, and until then. */
function lastMoment(end: string): string {
  return new Date(Date.parse(end) - 1).toISOString();
}

/** "Agreed with us until 31 January 2027: Gold, 50 projects." Empty where the plan is what the subscription gives. */
export function agreedText({ name, agreed }: Plan, usage: Usage[]): string {
  const t = texts('plan');
  if (!agreed) return '';
  const parts = [
    ...(agreed.tier ? [name] : []),
    ...usage
      .filter(({ meter }) => agreed.meters.includes(meter))
      .map(({ meter, limit }) => amongOthers(limitText(meter, limit, usage))),
    ...agreed.features.map((feature) => amongOthers(featureName(feature))),
  ];
  const what = formatList(parts);
  return agreed.until === null
    ? t.agreed({ what })
    : t.agreedUntil({ what, day: formatDate(lastMoment(agreed.until)) });
}

/** "Unlimited projects" → "unlimited projects", but "API calls" stays, and so do the nouns of German. */
function amongOthers(line: string): string {
  if (language() === 'de') return line.replace(/^Kein/, 'kein');
  return /^\p{Lu}\p{Ll}/u.test(line) ? line.charAt(0).toLowerCase() + line.slice(1) : line;
}
