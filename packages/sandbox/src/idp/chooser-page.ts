import { html } from '@gatehouse/payment-sandbox/http/html';
import { page } from '@gatehouse/payment-sandbox/http/page';
import { type AnswerKind, answers } from './answers.ts';
import type { Person } from './people.ts';

/** Renders the page of a sign-in on which the user is chosen. */
export function chooserPage(uid: string, people: Person[], error: string | null): string {
  return page({
    title: 'Choose an account',
    width: 'narrow',
    body: html`<h1>Choose an account</h1>
<p class="soft">This identity provider signs in any account that you choose. All accounts are invented.</p>
${error && html`<p class="wrong" role="alert">${error}</p>`}
<form method="post" action="/idp/interaction/${uid}">
<ul class="people">${people.map(
      (person) =>
        html`<li><button name="sub" value="${person.sub}"><span>${person.name || person.email}<small>${person.email}${!person.email_verified && ' · not verified'}</small></span></button></li>`,
    )}</ul></form>
<section class="panel" aria-labelledby="new"><h2 id="new">Create a person</h2>
<form method="post" action="/idp/interaction/${uid}/person">
<div class="field"><label for="email">E-mail address</label><input id="email" name="email" type="email" required maxlength="254" autocomplete="off"></div>
<div class="field"><label for="name">Name</label><input id="name" name="name" maxlength="200" autocomplete="off"></div>
<div class="field"><label class="check"><input type="checkbox" name="email_verified" value="true" checked> The address is verified</label></div>
<button class="primary">Create and continue</button></form></section>
<form method="post" action="/idp/interaction/${uid}/cancel"><button>Cancel</button></form>
<p class="small soft"><a href="/idp">What the provider answers</a></p>`,
  });
}

/** Renders the page for a request that the provider refuses. */
export function errorPage(error: string, description: string): string {
  return page({
    title: 'Sign-in refused',
    width: 'narrow',
    body: html`<h1>Sign-in failed</h1><p>The identity provider refused this request.</p><dl><dt>Error</dt><dd><code>${error}</code></dd>${description && html`<dt>Reason</dt><dd>${description}</dd>`}</dl>`,
  });
}

/** Renders the page at /idp, which sets the answer of the token endpoint. */
export function answersPage(chosen: AnswerKind | null, people: Person[]): string {
  const options = Object.entries(answers);
  return page({
    title: 'Identity provider',
    body: html`<h1>Identity provider</h1>
<p class="soft">It answers correctly unless you choose another answer here.</p>
<section class="panel" aria-labelledby="answer"><h2 id="answer">What the token endpoint answers</h2>
<form method="post" action="/idp/answer">
<div class="field"><label for="kind">Answer</label><select id="kind" name="kind"><option value="">correctly</option>
${(['refused', 'accepted'] as const).map(
  (expect) =>
    html`<optgroup label="${expect === 'refused' ? 'to be refused' : 'unusual, but to be accepted'}">${options
      .filter(([, answer]) => answer.expect === expect)
      .map(
        ([kind, answer]) => html`<option value="${kind}"${kind === chosen && html` selected`}>${answer.about}</option>`,
      )}</optgroup>`,
)}</select></div>
<div class="field"><label class="check"><input type="checkbox" name="once" value="true"> Only for the next request</label></div>
<button class="primary">Set</button></form></section>
<div class="scroll" role="region" aria-label="People" tabindex="0"><table><caption>People</caption><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col">Verified</th><th scope="col">Subject</th></tr></thead>
<tbody>${people.length === 0 && html`<tr><td colspan="4">No people yet. People that you create at a sign-in appear here.</td></tr>`}${people.map(
      (person) =>
        html`<tr><td>${person.name}</td><td>${person.email}</td><td>${person.email_verified ? 'yes' : 'no'}</td><td><code>${person.sub}</code></td></tr>`,
    )}</tbody></table></div>`,
  });
}
