import { type Html, html } from '@gatehouse/payment-sandbox/http/html';
import { defaultSwitches, type Switches } from '@gatehouse/payment-sandbox/provider/switches';

const checks: Partial<Record<keyof Switches, string>> = {
  duplicate_deliveries: 'Deliver each event twice',
  duplicate_events: 'Create two events of each change',
  reorder_deliveries: 'Deliver in random order',
  drop_deliveries: 'Deliver nothing',
  wrong_signature: 'Sign with another secret',
  same_second: 'Give all events the same second',
  old_payload_shape: 'Send payloads in the shape of older API versions',
  subscription_card_clears: 'Let the API clear the card of a subscription',
  portal_refuses_flows: 'Let the portal refuse flows',
  api_failure_after_effect: 'Perform failing requests, and lose only the answer',
};

const numbers: Partial<Record<keyof Switches, string>> = {
  delivery_delay_ms: 'Delay each delivery (milliseconds)',
  api_delay_ms: 'Delay each API request (milliseconds)',
  api_retry_after_seconds: 'Retry-After of answers with status 429 (seconds; 0: none)',
  retry_first_ms: 'Pause before the first retry of a delivery (milliseconds)',
  retry_longest_ms: 'Longest pause (milliseconds)',
  delivery_attempts: 'Attempts for each delivery',
};

const choices: Partial<Record<keyof Switches, Record<string, string>>> = {
  portal_cancellation: { flexible: 'cancel_at (flexible billing)', classic: 'cancel_at_period_end (classic billing)' },
  portal_card: { customer: 'the customer alone', subscriptions: 'the customer and its subscriptions' },
  dunning_end: {
    cancel: 'the subscription is cancelled',
    unpaid: 'it is left unpaid',
    past_due: 'it stays past due',
    pause: 'it is paused',
  },
  first_failure: { past_due: 'the subscription is past due', pause: 'it is paused' },
  paid_while_paused: { stays_paused: 'it stays paused', resumes: 'it is resumed' },
};

const failures: Record<string, string> = {
  '': 'correctly',
  500: 'with status 500',
  503: 'with status 503',
  429: 'with status 429',
  400: 'with status 400',
  close: 'by cutting the connection',
  hang: 'never',
};

/** Renders a form that sets all switches at once. */
export function switchForm(switches: Switches): Html {
  return html`<form method="post" action="/control/switches"><div class="grid">
<fieldset><legend>Events and pages</legend>${entries(checks).map(
    ([name, label]) =>
      html`<label class="check"><input type="checkbox" name="${name}" value="true"${switches[name] === true && html` checked`}> ${label}</label>`,
  )}</fieldset>
<div>${entries(choices).map(([name, options]) => select(name, choiceLabels[name] ?? name, options, String(switches[name])))}
${select('api_failure', 'The API answers', failures, String(switches.api_failure ?? ''))}
<div class="field"><label for="api_failure_count">Number of failing requests (empty: all)</label><input id="api_failure_count" name="api_failure_count" inputmode="numeric" value="${switches.api_failure_count ?? ''}"></div>
<div class="field"><label for="api_failure_only">Only requests that start with (such as “POST /v1/customers”; empty: all)</label><input id="api_failure_only" name="api_failure_only" value="${switches.api_failure_only}"></div></div>
<div>${entries(numbers).map(
    ([name, label]) =>
      html`<div class="field"><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="numeric" value="${String(switches[name])}"></div>`,
  )}</div></div><button class="primary">Set the switches</button></form>
<form method="post" action="/control/switches/reset"><p><button>Reset to the behaviour of the real provider</button></p></form>`;
}

const choiceLabels: Partial<Record<keyof Switches, string>> = {
  portal_cancellation: 'A cancellation in the portal sets',
  portal_card: 'A card that the portal saves becomes the default of',
  dunning_end: 'When the last retry has failed',
  first_failure: 'When the first charge of a renewal has failed',
  paid_while_paused: 'When the invoice of a paused subscription is paid',
};

function select(name: string, label: string, options: Record<string, string>, chosen: string): Html {
  // Object keys that are numbers come first, so the empty value is moved to the front.
  const sorted = Object.entries(options).sort(([one], [other]) => Number(one !== '') - Number(other !== ''));
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${sorted.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></div>`;
}

/** Reads the form as changes. A checkbox that is not ticked turns its switch off. */
export function switchesFromForm(form: URLSearchParams): Record<string, unknown> {
  const changes: Record<string, unknown> = { ...defaultSwitches() };
  for (const [name] of entries(checks)) changes[name] = form.get(name) === 'true';
  for (const [name] of entries(numbers)) changes[name] = Number(form.get(name));
  for (const [name] of entries(choices)) changes[name] = form.get(name);
  const failure = form.get('api_failure') ?? '';
  changes.api_failure = failure === '' ? null : /^\d+$/.test(failure) ? Number(failure) : failure;
  const times = form.get('api_failure_count')?.trim() ?? '';
  changes.api_failure_count = times === '' ? null : Number(times);
  changes.api_failure_only = form.get('api_failure_only') ?? '';
  return changes;
}

function entries<V>(record: Partial<Record<keyof Switches, V>>): [keyof Switches, V][] {
  return Object.entries(record) as [keyof Switches, V][];
}
