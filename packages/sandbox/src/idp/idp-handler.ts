import { redirect, sendJson, sendPage } from '@gatehouse/payment-sandbox/http/answer';
import { type Exchange, HttpError, readForm, readJson } from '@gatehouse/payment-sandbox/http/request';
import { type AnswerKind, answers, findAnswer } from './answers.ts';
import { answersPage, chooserPage, errorPage } from './chooser-page.ts';
import type { RunningIdentityProvider } from './identity-provider.ts';

/** Answers requests at /idp: pages and controls here, the protocol by oidc-provider. */
export async function handleIdp(idp: RunningIdentityProvider, exchange: Exchange): Promise<boolean> {
  const { req, res, method, path } = exchange;
  if (path !== '/idp' && !path.startsWith('/idp/')) return false;
  const [, , part, uid, action] = path.split('/');
  if (part === 'interaction' && uid) {
    await interaction(idp, exchange, uid, action);
  } else if (path === '/idp' && method === 'GET') {
    sendPage(res, 200, answersPage(idp.answer(), idp.people.all()));
  } else if (path === '/idp/answer' && method === 'POST') {
    await setAnswer(idp, exchange);
  } else if (path === '/idp/answers' && method === 'GET') {
    sendJson(
      res,
      200,
      Object.entries(answers).map(([kind, { about, expect }]) => ({ kind, about, expect })),
    );
  } else if (path === '/idp/people') {
    await people(idp, exchange);
  } else {
    (await idp.protocol()).handle(req, res);
  }
  return true;
}

/** Answers requests of the chooser. The cookie identifies the attempt; the uid in the address only has to match it. */
async function interaction(idp: RunningIdentityProvider, exchange: Exchange, uid: string, action?: string) {
  const { req, res, method } = exchange;
  const protocol = await idp.protocol();
  try {
    await protocol.requireAttempt(req, res, uid);
    if (method !== 'POST') return sendPage(res, 200, chooserPage(uid, idp.choices(), null));
    if (action === 'cancel')
      return await protocol.finish(req, res, { error: 'access_denied', error_description: 'cancelled' });

    const form = await readForm(req);
    if (action !== 'person') {
      const sub = form.get('sub') ?? '';
      if (!idp.people.find(sub)) return sendPage(res, 400, chooserPage(uid, idp.choices(), 'Choose one of these.'));
      return await protocol.finish(req, res, { login: { accountId: sub }, select_account: {} });
    }
    const email = form.get('email')?.trim() ?? '';
    if (!email.includes('@')) {
      return sendPage(res, 400, chooserPage(uid, idp.choices(), 'Give the person an e-mail address.'));
    }
    const person = idp.people.add({
      email,
      email_verified: form.get('email_verified') === 'true',
      name: form.get('name')?.trim() ?? '',
    });
    return await protocol.finish(req, res, { login: { accountId: person.sub }, select_account: {} });
  } catch (error) {
    if (!protocol.isProtocolError(error)) throw error;
    sendPage(res, 400, errorPage(error.error, `${error.error_description ?? ''} Start again at the service.`.trim()));
  }
}

async function setAnswer(idp: RunningIdentityProvider, { req, res }: Exchange): Promise<void> {
  const isJson = req.headers['content-type']?.includes('json') ?? false;
  const fields = isJson ? await readJson(req) : Object.fromEntries(await readForm(req));
  const kind = String(fields.kind ?? '');
  if (kind && !findAnswer(kind)) throw new HttpError(400, 'There is no such answer; GET /idp/answers lists them.');
  const once = fields.once === true || fields.once === 'true';
  if (kind && once) idp.answerNext(kind as AnswerKind);
  else idp.setAnswer(kind ? (kind as AnswerKind) : null);
  if (isJson) sendJson(res, 200, { ok: true, answer: idp.answer() });
  else redirect(res, '/idp');
}

async function people(idp: RunningIdentityProvider, { req, res, method }: Exchange): Promise<void> {
  if (method === 'GET') return sendJson(res, 200, idp.people.all());
  if (method !== 'POST') throw new HttpError(405, 'People are listed with GET and created with POST.');
  const fields = await readJson(req);
  if (typeof fields.email !== 'string') throw new HttpError(400, 'A person needs an email.');
  const person = idp.people.add({
    email: fields.email,
    ...(typeof fields.email_verified === 'boolean' && { email_verified: fields.email_verified }),
    ...(typeof fields.name === 'string' && { name: fields.name }),
    ...(typeof fields.sub === 'string' && { sub: fields.sub }),
  });
  sendJson(res, 200, person);
}
