import type { Tone } from '#lib/format/tone.ts';

type Outcome = { tone: Tone; name: string; text: string };

const outcomes: Record<string, Outcome> = {
  applied: { tone: 'good', name: 'Applied', text: 'It changed or confirmed something here.' },
  noted: { tone: 'warn', name: 'Noted', text: 'Kept for an operator to look at. It changes no plan by itself.' },
  ignored: { tone: 'plain', name: 'Ignored', text: 'Events of this type change nothing here.' },
  other_mode: {
    tone: 'plain',
    name: 'Other mode',
    text: 'It is of the provider’s other mode (test or live) than the configured key, or there was no key when it came.',
  },
  not_ours: { tone: 'plain', name: 'Not ours', text: 'Its customer belongs to no organisation here.' },
  unknown_organisation: {
    tone: 'bad',
    name: 'Unknown organisation',
    text: 'It names an organisation as this service does, but none that is here.',
  },
  contradiction: {
    tone: 'bad',
    name: 'Contradiction',
    text: 'What it says of organisation, customer and subscription does not agree with what is stored here.',
  },
  unreadable: { tone: 'bad', name: 'Unreadable', text: 'It lacks what an event of its type must hold.' },
};

export function outcomeText(outcome: string): Outcome {
  return outcomes[outcome] ?? { tone: 'plain', name: outcome, text: '' };
}

const effects: Record<string, string> = {
  checkout_completed: 'Ties organisation, customer and subscription together, and asks the provider where it stands.',
  checkout_closed: 'Closes the open checkout.',
  checkout_failed: 'Closes the open checkout and notes the problem.',
  state: 'Computes the subscription’s row again from all its events, and asks the provider where it stands.',
  invoice_settled: 'Ends the problem of its invoice, and asks the provider where the subscription stands.',
  invoice_problem: 'Notes a problem of its invoice, and asks the provider where the subscription stands.',
  note: 'Is kept for an operator.',
  customer_gone: 'Marks the customer as gone.',
  prices: 'Has the prices looked up again.',
};

export function effectText(effect: string | null): string {
  return effects[effect ?? ''] ?? 'Is kept, and does nothing.';
}

const problems: Record<string, string> = {
  unknown_to_provider: 'Unknown to the provider',
  other_customer: 'Another customer’s',
};

export function problemText(problem: string): string {
  return problems[problem] ?? problem;
}
