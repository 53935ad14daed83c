import { redirect, send, sendJson, sendPage } from '@gatehouse/payment-sandbox/http/answer';
import { html } from '@gatehouse/payment-sandbox/http/html';
import { page } from '@gatehouse/payment-sandbox/http/page';
import { type Exchange, HttpError, readForm } from '@gatehouse/payment-sandbox/http/request';
import { momentText } from '@gatehouse/payment-sandbox/http/time-text';
import { type Mail, type Mailbox, type MailFault, mailFaults } from './mailbox.ts';

/** Answers requests at /mailbox: pages, and JSON at /mailbox/messages. */
export async function handleMailbox(mailbox: Mailbox, { req, res, method, path, query }: Exchange): Promise<boolean> {
  if (path !== '/mailbox' && !path.startsWith('/mailbox/')) return false;
  if (path === '/mailbox/messages' && method === 'GET') {
    sendJson(res, 200, mailbox.messages(query.get('to') ?? undefined));
  } else if (path === '/mailbox/messages' && method === 'DELETE') {
    mailbox.clear();
    sendJson(res, 200, { ok: true });
  } else if (path === '/mailbox/clear' && method === 'POST') {
    mailbox.clear();
    redirect(res, '/mailbox');
  } else if (path === '/mailbox/fault' && method === 'POST') {
    mailbox.setFault(readFault((await readForm(req)).get('fault') ?? ''));
    redirect(res, '/mailbox');
  } else if (method !== 'GET' && method !== 'HEAD') {
    throw new HttpError(405, 'The mailbox accepts GET, and POST for its controls.');
  } else if (path === '/mailbox') {
    sendPage(res, 200, listPage(mailbox, query.get('to') ?? ''));
  } else {
    const [, , id, part] = path.split('/');
    const mail = mailbox.messages().find((candidate) => candidate.id === id);
    if (!mail) throw new HttpError(404, 'There is no such mail.');
    if (part === 'html') sendMarkup(res, mail);
    else sendPage(res, 200, mailPage(mail));
  }
  return true;
}

function readFault(value: string): MailFault | null {
  if (value === '') return null;
  const fault = mailFaults.find((known) => known === value);
  if (!fault) throw new HttpError(400, `There is no fault of that name. There are ${mailFaults.join(', ')}.`);
  return fault;
}

function listPage(mailbox: Mailbox, to: string): string {
  const mails = mailbox.messages(to || undefined).slice(0, 200);
  return page({
    title: 'Mailbox',
    body: html`<h1>Mailbox</h1>
<p class="soft">Every mail that the service sent, newest first. No mail leaves this machine.</p>
${mails.length === 0 && html`<p class="panel">No mail yet. Sign up at the service, and the verification link arrives here.</p>`}
<ul class="mails">${mails.map((mail) => mailEntry(mail))}</ul>
<section class="panel" aria-labelledby="server"><h2 id="server">Mail server</h2>
<form method="post" action="/mailbox/fault"><div class="field"><label for="fault">The mail server</label>
<select id="fault" name="fault"><option value="">accepts the next mails</option>${mailFaults.map(
      (fault) =>
        html`<option value="${fault}"${fault === mailbox.fault() && html` selected`}>${faultTexts[fault]}</option>`,
    )}</select></div><button>Set</button></form></section>
<form method="post" action="/mailbox/clear"><button>Delete all mails</button></form>`,
  });
}

const faultTexts: Record<MailFault, string> = {
  refuse: 'refuses them permanently (550)',
  later: 'refuses them temporarily (451)',
  hang: 'never answers',
  close: 'refuses connections (421)',
};

function mailEntry(mail: Mail) {
  return html`<li><a href="/mailbox/${mail.id}">${mail.subject || '(no subject)'}</a>
<div class="soft small">to ${mail.to.join(', ')} · <time datetime="${mail.received_at}">${timeText(mail)}</time></div>
${mail.links.map((link) => html`<div class="small"><a href="${link}">${link}</a></div>`)}</li>`;
}

function timeText({ received_at: at }: Mail): string {
  return momentText(Date.parse(at) / 1000);
}

function mailPage(mail: Mail): string {
  return page({
    title: mail.subject || 'Mail',
    body: html`<p><a href="/mailbox">All mails</a></p>
<h1>${mail.subject || '(no subject)'}</h1>
<dl><dt>From</dt><dd>${mail.from}</dd><dt>To</dt><dd>${mail.to.join(', ')}</dd><dt>Received</dt><dd>${timeText(mail)}</dd></dl>
${
  mail.links.length > 0 &&
  html`<section class="panel" aria-labelledby="links"><h2 id="links">Links</h2><ul>${mail.links.map((link) => html`<li><a href="${link}">${link}</a></li>`)}</ul></section>`
}
<section class="panel" aria-labelledby="text"><h2 id="text">Text</h2><pre>${mail.text || '(none)'}</pre></section>
${
  mail.html !== null &&
  html`<section aria-labelledby="html"><h2 id="html">HTML</h2><iframe title="The HTML part of the mail" src="/mailbox/${mail.id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe></section>`
}
<details class="panel"><summary>Headers</summary><dl>${Object.entries(mail.headers).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></details>`,
  });
}

/** Sends the HTML part of a mail as a document without an origin, which runs no scripts and loads no other files. */
function sendMarkup(res: Exchange['res'], mail: Mail): void {
  res.setHeader(
    'Content-Security-Policy',
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
  );
  send(res, 200, 'text/html; charset=utf-8', `<base target="_blank">${mail.html ?? ''}`);
}
