import { redirect, sendJson, sendPage } from '@gatehouse/payment-sandbox/http/answer';
import { type Exchange, HttpError, readForm, readJson } from '@gatehouse/payment-sandbox/http/request';
import type { PaymentProvider } from '@gatehouse/payment-sandbox/payment-controls';
import { readSwitches } from '@gatehouse/payment-sandbox/provider/switches';
import { actOnDispute, actOnInvoice } from './company-acts.ts';
import { controlPage } from './control-page.ts';
import { actOnSubscription } from './subscription-acts.ts';
import { switchesFromForm } from './switch-form.ts';

type Fields = Record<string, unknown>;

/**
 * Answers requests at /control: the page with its forms, and the same as JSON for tests. A form
 * is answered with a redirect to the page, a JSON body with JSON.
 *
 * GET  switches, clock, deliveries, events, state
 * POST switches {name: value, …}, switches/reset
 *      clock {to: "next" | "period_end" | seconds, subscription?} or {seconds?, hours?, days?}
 *      deliveries/resend {id}, events/resend {id}, deliveries/send-dropped, deliveries/retry-now
 *      card {customer, card}, status {subscription, status}
 *      invoice {invoice, act: "void" | "uncollectible" | "refund" | "dispute" | "inquiry" | "warning", amount?, reason?}
 *      subscription {subscription, act: "schedule" | "release" | "pause" | "collect", price?, behavior?}
 *      endpoint {disabled}, tax {country}
 *      dispute {dispute, act: "evidence" | "won" | "lost" | "warning_closed" | "prevented"}, refund {refund, act: "fail"}
 *      emit {type, object, about?: {livemode?, created?, id?, previousAttributes?}}
 *      reset
 */
export async function handleControl(payment: PaymentProvider, exchange: Exchange): Promise<boolean> {
  const { req, res, method, path, query } = exchange;
  if (path !== '/control' && !path.startsWith('/control/')) return false;
  const what = path.slice('/control/'.length);
  if (method === 'GET' || method === 'HEAD') {
    if (path === '/control') sendPage(res, 200, controlPage(payment, query.get('message')));
    else sendJson(res, 200, read(payment, what));
    return true;
  }
  if (method !== 'POST') throw new HttpError(405, 'The controls accept GET and POST.');
  const isForm = req.headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
  const fields: Fields = isForm ? formFields(what, await readForm(req)) : await readJson(req);
  let answer: object;
  try {
    answer = act(payment, what, fields);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    const { message } = error as Error;
    if (isForm) redirect(res, `/control?message=${encodeURIComponent(message)}`);
    else sendJson(res, 400, { error: message });
    return true;
  }
  if (isForm) redirect(res, `/control?message=${encodeURIComponent(String((answer as Fields).message ?? 'Done.'))}`);
  else sendJson(res, 200, answer);
  return true;
}

function read(payment: PaymentProvider, what: string): unknown {
  if (what === 'switches') return payment.switches();
  if (what === 'clock') return { now: payment.clock.now(), next: payment.clock.next() };
  if (what === 'deliveries') return payment.deliveries.list();
  if (what === 'events') return payment.events();
  if (what === 'state') return payment.state();
  throw new HttpError(404, 'There is no such control.');
}

function formFields(what: string, form: URLSearchParams): Fields {
  return what === 'switches' ? switchesFromForm(form) : Object.fromEntries(form);
}

function act(payment: PaymentProvider, what: string, fields: Fields): object {
  const text = (name: string) => String(fields[name] ?? '');
  switch (what) {
    case 'switches':
      return { ...payment.set(readSwitches(fields)) };
    case 'switches/reset':
      return { ...payment.resetSwitches() };
    case 'clock':
      return moveClock(payment, fields);
    case 'deliveries/resend':
      return { ok: true, delivery: payment.deliveries.resend(text('id')), message: 'Sent again.' };
    case 'events/resend':
      payment.deliveries.resendEvent(text('id'));
      return { ok: true, message: 'Sent again.' };
    case 'deliveries/send-dropped':
      return { ok: true, sent: payment.deliveries.sendDropped() };
    case 'deliveries/retry-now':
      payment.deliveries.retryNow();
      return { ok: true };
    case 'card':
      payment.setCard(text('customer'), text('card'));
      return { ok: true, message: 'The card has been changed.' };
    case 'status':
      return payment.forceStatus(text('subscription'), text('status'));
    case 'invoice':
      return { ...actOnInvoice(payment, fields) };
    case 'subscription':
      return { ...actOnSubscription(payment, fields) };
    case 'endpoint':
      payment.disableWebhook(String(fields.disabled) === 'true');
      return { ok: true, message: 'The endpoint has been changed.' };
    case 'tax':
      payment.registerForTax(text('country'));
      return { ok: true, message: 'The account has been registered.' };
    case 'dispute':
      return { ...actOnDispute(payment, fields) };
    case 'refund':
      return { ...payment.failRefund(text('refund')) };
    case 'emit':
      return payment.emit(text('type'), (fields.object ?? {}) as object, (fields.about ?? {}) as object);
    case 'reset':
      payment.reset();
      return { ok: true, message: 'Everything has been reset.' };
    default:
      throw new HttpError(404, 'There is no such control.');
  }
}

/**
 * Advances the clock by `{to: "next"}`, `{to: "period_end", subscription?}`, `{to: seconds}`, or
 * `{seconds, hours, days}`.
 */
function moveClock(payment: PaymentProvider, fields: Fields): object {
  const { clock } = payment;
  let message = 'The clock has been advanced.';
  if (fields.to === 'next') message = sentence(clock.advanceToNext());
  else if (fields.to === 'period_end')
    clock.advanceToPeriodEnd(fields.subscription ? String(fields.subscription) : undefined);
  else if (typeof fields.to === 'number') clock.advanceTo(fields.to);
  else clock.advance({ seconds: count(fields.seconds), hours: count(fields.hours), days: count(fields.days) });
  return { now: clock.now(), next: clock.next(), message };
}

function sentence(about: string | null): string {
  return about === null ? 'Nothing is due.' : `Done: ${about}.`;
}

function count(value: unknown): number {
  const number = Number(value ?? 0);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new Error('The clock is advanced by a number of seconds, hours or days that is not negative.');
}
