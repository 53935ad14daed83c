import type { Tone } from '#lib/format/tone.ts';
import { texts } from '#lib/language/texts.ts';

const tones: Record<string, Tone> = {
  applied: 'good',
  noted: 'warn',
  unknown_organisation: 'bad',
  contradiction: 'bad',
  unreadable: 'bad',
};

/** The tone, name and description of an outcome. One of a newer version is shown by its code. */
export function outcomeText(outcome: string): { tone: Tone; name: string; text: string } {
  const { outcomes }: { outcomes: Record<string, { name: string; text: string }> } = texts('eventType');
  const known = Object.hasOwn(outcomes, outcome) ? outcomes[outcome] : undefined;
  return { tone: tones[outcome] ?? 'plain', ...(known ?? { name: outcome, text: '' }) };
}

/** "Invoice paid" for invoice.paid. A type that is not listed: "Tax rate updated" for tax_rate.updated. */
export function eventName(type: string): string {
  const { names, withoutType }: { names: Record<string, string>; withoutType: string } = texts('eventType');
  if (Object.hasOwn(names, type)) return names[type] ?? type;
  const words = type.replace(/[._]+/g, ' ').trim();
  return words === '' ? withoutType : words.charAt(0).toUpperCase() + words.slice(1);
}

/** What events of a type do in this service. */
export function effectText(effect: string | null): string {
  const { effects, noEffect }: { effects: Record<string, string>; noEffect: string } = texts('eventType');
  return (effect !== null && Object.hasOwn(effects, effect) && effects[effect]) || noEffect;
}

export function problemText(problem: string): string {
  const { problems }: { problems: Record<string, string> } = texts('eventType');
  return (Object.hasOwn(problems, problem) && problems[problem]) || problem;
}
