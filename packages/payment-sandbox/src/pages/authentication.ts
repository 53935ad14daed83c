import type { Outcome } from '../customers/test-method.ts';
import { html } from '../http/html.ts';
import { page } from '../http/page.ts';

/** What a page does about authentication: show the page of the bank, show a sentence, or go on. */
type Authentication = { ask: string } | { failed: string } | null;

/**
 * Decides whether a posted form needs the page of the customer's bank (3-D Secure) first. That page posts the same
 * form again with the customer's answer, so that nothing is stored in between.
 */
export function authenticate(action: string, form: URLSearchParams, outcome: Outcome | undefined): Authentication {
  if (outcome !== 'authenticates') return null;
  const answer = form.get('authentication');
  if (answer === 'complete') return null;
  if (answer === null) return { ask: bankPage(action, form) };
  return { failed: 'We are unable to authenticate your payment method. Choose another one and try again.' };
}

function bankPage(action: string, form: URLSearchParams): string {
  return page({
    title: 'Authentication',
    width: 'narrow',
    body: html`<h1>Sandbox bank</h1>
<p>Your bank asks you to confirm this payment (3-D Secure).</p>
<form method="post" action="${action}">${[...form].map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}
<div class="actions"><button class="primary" name="authentication" value="complete">Complete</button>
<button name="authentication" value="fail">Fail</button></div></form>`,
  });
}
