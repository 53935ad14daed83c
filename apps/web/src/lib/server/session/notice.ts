import { clearCookie, readCookie, writeCookie } from '@gatehouse/api/http/cookies';
import { isPrefetch } from '@gatehouse/api/http/request-guard';
import type { RequestEvent } from '@sveltejs/kit';
import type { Notice, NoticeText, ShownNotice } from '#lib/notices/notice.ts';

type NoticeEvent = Pick<RequestEvent, 'locals' | 'cookies' | 'request'>;

/**
 * Gives this browser a notice for its next page, which shows it once: after a redirect, or on the page
 * that answers the form. The notice names its object (“Larch is approved.”), takes the focus
 * or gives it to the element that it names, and works without JavaScript. A second call for the
 * same response replaces the first. The notice is the value of a cookie that no other host can set
 * (`__Host-`), so that neither a URL nor another site chooses the text of a page.
 */
export function notify({ locals, cookies, request }: NoticeEvent, posted: Notice | NoticeText): void {
  const notice: Notice = typeof posted === 'string' || Array.isArray(posted) ? { text: posted } : posted;
  // A cookie's value is ASCII without commas and quotes (RFC 6265 §4.1.1).
  writeCookie(locals.app, cookies, 'notice', Buffer.from(JSON.stringify(notice)).toString('base64url'));
  // A GET here is a load that redirects. The layouts of its page run too, and must not take the notice.
  locals.noticeIsForNextPage = request.method === 'GET';
}

/** Takes the notice for the page that is rendered now; null without one. HEAD and a prefetch do not take it. */
export function takeNotice({ locals, cookies, request }: NoticeEvent): ShownNotice | null {
  const { app, noticeIsForNextPage } = locals;
  if (noticeIsForNextPage) return null;

  const cookie = readCookie(app, cookies, 'notice');
  if (cookie === null || request.method === 'HEAD' || isPrefetch(request.headers)) return null;

  clearCookie(app, cookies, 'notice');
  const notice = readNotice(cookie);
  return notice && { ...notice, id: crypto.randomUUID() };
}

/** Null if the cookie is none of `notify`: a user can edit their own, and an earlier release put other values there. */
function readNotice(cookie: string): Notice | null {
  try {
    const notice = JSON.parse(Buffer.from(cookie, 'base64url').toString()) as Notice;
    return [notice.text].flat().every(isPart) ? notice : null;
  } catch {
    return null;
  }
}

function isPart(part: unknown): boolean {
  const { name, day } = Object(part) as { name?: unknown; day?: unknown };
  return [part, name, day].some((each) => typeof each === 'string');
}
