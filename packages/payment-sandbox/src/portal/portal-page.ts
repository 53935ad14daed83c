import { redirect, sendPage } from '../http/answer.ts';
import { type Html, html } from '../http/html.ts';
import { page } from '../http/page.ts';
import { type Exchange, HttpError, readForm } from '../http/request.ts';
import { authenticate } from '../pages/authentication.ts';
import { errorMessage } from '../pages/method-fields.ts';
import type { Provider } from '../provider/provider.ts';
import type { PortalSession } from '../provider/records.ts';
import { ApiError } from '../routing/api-error.ts';
import {
  cancelInPortal,
  changeCard,
  changePlan,
  PortalError,
  resumeInPortal,
  updateCustomer,
  useInPortal,
} from './portal.ts';
import { flowBody } from './portal-flow-page.ts';
import { homeBody } from './portal-home.ts';

/**
 * Answers requests for the customer portal at /pay/portal/:id: its home page, or the task of the
 * session's flow.
 *
 * @throws HttpError 404 if there is no such session, 413 for a form of more than a megabyte.
 */
export async function portalPage(provider: Provider, { req, res, method, query }: Exchange, id: string): Promise<void> {
  const session = provider.state.portal_sessions[id];
  if (!session || !provider.state.customers[session.customer])
    throw new HttpError(404, 'There is no such portal session.');
  if (method !== 'POST') return sendPage(res, 200, pageOf(provider, session, null, query.get('done')));
  const form = await readForm(req);
  const step = authenticate(`/pay/portal/${id}`, form, useInPortal(provider, session, form));
  if (step && 'ask' in step) return sendPage(res, 200, step.ask);
  if (step) return sendPage(res, 402, pageOf(provider, session, step.failed, null));
  try {
    act(provider, session, form);
  } catch (error) {
    if (!(error instanceof PortalError || error instanceof ApiError)) throw error;
    sendPage(res, 402, pageOf(provider, session, error.message, null));
    return;
  } finally {
    provider.file.save();
  }
  redirect(res, after(session, form.get('act') ?? ''));
}

function act(provider: Provider, session: PortalSession, form: URLSearchParams): void {
  const subscription = form.get('subscription') ?? '';
  const quantity = Number(form.get('quantity') ?? 1) || 1;
  const acts: Record<string, () => void> = {
    card: () => changeCard(provider, session, form.get('card') ?? ''),
    cancel: () => cancelInPortal(provider, session, subscription),
    customer: () => updateCustomer(provider, session, customerChanges(form)),
    resume: () => resumeInPortal(provider, session, subscription),
    plan: () => changePlan(provider, session, subscription, form.get('price') ?? '', quantity),
  };
  const wanted = form.get('act') ?? '';
  if (!Object.hasOwn(acts, wanted)) throw new PortalError('The portal cannot do that.');
  acts[wanted]?.();
}

function customerChanges(form: URLSearchParams): { name?: string; email?: string; country?: string } {
  const given = (['name', 'email', 'country'] as const).filter((name) => form.has(name));
  return Object.fromEntries(given.map((name) => [name, form.get(name)?.trim() ?? '']));
}

/** Returns the URL after an action: that of the flow, otherwise the home page. */
function after(session: PortalSession, act: string): string {
  const completion = session.flow?.after_completion;
  if (completion?.type === 'redirect' && completion.redirect) return completion.redirect.return_url;
  return `/pay/portal/${session.id}?done=${act}`;
}

const doneTexts: Record<string, string> = {
  card: 'The card has been changed.',
  customer: 'The details have been changed.',
  cancel: 'The cancellation has been scheduled.',
  resume: 'The plan continues.',
  plan: 'The plan has been changed.',
};

function pageOf(provider: Provider, session: PortalSession, message: string | null, done: string | null): string {
  const flow = done === null ? session.flow : null;
  const doneSentence = done === null ? undefined : doneTexts[done];
  const confirmation = session.flow?.after_completion.hosted_confirmation?.custom_message;
  const body: Html = flow ? flowBody(provider, session, flow) : homeBody(provider, session);
  return page({
    title: 'Customer portal',
    width: 'narrow',
    body: html`${session.return_url && html`<p><a href="${session.return_url}">Return</a></p>`}
<h1>Sandbox payments</h1>
${errorMessage(message)}
${doneSentence && html`<p class="note" role="status">${confirmation ?? doneSentence}</p>`}
${body}`,
  });
}
