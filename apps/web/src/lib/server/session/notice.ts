import { consumeNotice, storeNotice } from '@gatehouse/api/sessions/notice';
import type { RequestEvent } from '@sveltejs/kit';
import type { Notice, NoticeText, ShownNotice } from '#lib/notices/notice.ts';
import { clearCookie, readCookie, writeCookie } from './cookies.ts';

type NoticeEvent = Pick<RequestEvent, 'locals' | 'cookies'>;

/**
 * Makes the next page of this browser say what a form did, once: after a redirect, or on the page
 * that answers the form. The notice names its object (say`${name} is approved.`), takes the focus
 * or gives it to the element that it names, and works without JavaScript. A second call for the
 * same response replaces the first.
 */
export async function notify({ locals: { app }, cookies }: NoticeEvent, told: Notice | NoticeText): Promise<void> {
  const notice: Notice = Array.isArray(told) ? { text: told } : told;
  writeCookie(app, cookies, 'notice', await storeNotice(app, notice));
}

/** The notice for the page that is rendered now; null without one. HEAD requests have no side effects. */
export async function takeNotice({
  locals: { app },
  cookies,
  request,
}: NoticeEvent & Pick<RequestEvent, 'request'>): Promise<ShownNotice | null> {
  const cookie = readCookie(app, cookies, 'notice');
  if (cookie === null || request.method === 'HEAD') return null;

  clearCookie(app, cookies, 'notice');
  const notice = (await consumeNotice(app, cookie)) as Notice | null;
  return notice && { ...notice, id: crypto.randomUUID() };
}
