import { consumeNotice, storeNotice } from '@gatehouse/api/auth/sessions/notice';
import { clearCookie, readCookie, writeCookie } from '@gatehouse/api/http/cookies';
import { isPrefetch } from '@gatehouse/api/http/request-guard';
import type { RequestEvent } from '@sveltejs/kit';
import type { Notice, NoticeText, ShownNotice } from '#lib/notices/notice.ts';

type NoticeEvent = Pick<RequestEvent, 'locals' | 'cookies' | 'request'>;

/**
 * Stores a notice for the next page of this browser, which shows it once: after a redirect, or on the page
 * that answers the form. The notice names its object (say`${name} is approved.`), takes the focus
 * or gives it to the element that it names, and works without JavaScript. A second call for the
 * same response replaces the first.
 */
export async function notify({ locals, cookies, request }: NoticeEvent, posted: Notice | NoticeText): Promise<void> {
  const notice: Notice = Array.isArray(posted) ? { text: posted } : posted;
  writeCookie(locals.app, cookies, 'notice', await storeNotice(locals.app, notice));
  // A GET here is a load that redirects. The layouts of its page run too, and must not take the notice.
  locals.noticeIsForNextPage = request.method === 'GET';
}

/** Takes the notice for the page that is rendered now; null without one. HEAD and a prefetch do not take it. */
export async function takeNotice({ locals, cookies, request }: NoticeEvent): Promise<ShownNotice | null> {
  const { app, noticeIsForNextPage } = locals;
  if (noticeIsForNextPage) return null;

  const cookie = readCookie(app, cookies, 'notice');
  if (cookie === null || request.method === 'HEAD' || isPrefetch(request.headers)) return null;

  clearCookie(app, cookies, 'notice');
  const notice = (await consumeNotice(app, cookie)) as Notice | null;
  return notice && { ...notice, id: crypto.randomUUID() };
}
