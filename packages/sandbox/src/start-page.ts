import { html } from '@gatehouse/payment-sandbox/http/html';
import { page } from '@gatehouse/payment-sandbox/http/page';
import type { DemoAccount } from './demo-accounts.ts';

/** Renders the page at /, which links to all parts of the sandbox. */
export function startPage(serviceUrl: string | null, accounts: DemoAccount[]): string {
  return page({
    title: 'Start',
    body: html`<h1>The sandbox</h1>
<p class="soft">Replacements of the three external systems of the service, so that it can be tried without any account.</p>
${serviceUrl && html`<p><a class="button primary" href="${serviceUrl}">Open the service</a></p>`}
<div class="grid">
<section class="panel" aria-labelledby="mailbox"><h2 id="mailbox">Mailbox</h2><p>Every mail that the service sends. Its links work.</p><p><a href="/mailbox">Read the mails</a></p></section>
<section class="panel" aria-labelledby="idp"><h2 id="idp">Identity provider</h2><p>Signs in any person that you create, and can give wrong answers.</p><p><a href="/idp">People and answers</a></p></section>
<section class="panel" aria-labelledby="payments"><h2 id="payments">Payments</h2><p>Plans, checkout, portal and signed events, with a clock that can be advanced.</p><p><a href="/control">Clock, switches and deliveries</a></p></section>
</div>
${
  accounts.length > 0 &&
  html`<div class="scroll" role="region" aria-label="Demo accounts" tabindex="0"><table><caption>Demo accounts</caption><thead><tr><th scope="col">Address</th><th scope="col">Password</th><th scope="col">Purpose</th></tr></thead><tbody>${accounts.map(
    ({ email, password, note }) => html`<tr><td>${email}</td><td><code>${password}</code></td><td>${note}</td></tr>`,
  )}</tbody></table></div>`
}`,
  });
}
