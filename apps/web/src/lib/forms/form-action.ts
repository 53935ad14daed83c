import { type ErrorBody, recordFailure } from '@gatehouse/api/http/error-response';
import type { Caller } from '@gatehouse/api/router/root';
import { fail, type RequestEvent, redirect } from '@sveltejs/kit';
import { texts } from '#lib/language/texts.ts';
import type { Notice, NoticeText } from '#lib/notices/notice.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { pageErrorOf } from '#lib/server/language/page-error.ts';
import { notify } from '#lib/server/session/notice.ts';
import { rememberPageOfEndedSession } from '#lib/server/session/return-url.ts';
import { formFields, tickedFields } from './form-fields.ts';
import { renderedForField } from './rendered-for.ts';

type PostedNotice = Notice | NoticeText | null;

interface ActionOptions<Answer, Done, Shown> {
  /**
   * Whether the form concerns the organisation that its page showed, which its field `organisation_id` names (a form of
   * a program need not name one).
   */
  ofOrganisation?: boolean;
  /** The path to redirect to, or the data that the page shows instead of a redirect. */
  done: string | ((form: FormData, answer: Answer, event: RequestEvent) => Done | Promise<Done>);
  /** The notice that the next page shows once: see `notify`. */
  notice?: (form: FormData, answer: Answer, event: RequestEvent) => PostedNotice | Promise<PostedNotice>;
  /** What the page needs beside the error to show its form as it was typed. */
  failure?: (form: FormData, body: ErrorBody, event: RequestEvent) => Shown | Promise<Shown>;
}

/**
 * Returns a form action that passes the posted fields to a procedure of the router, and answers with a
 * redirect (303), with data, or with the procedure's error. A form whose page was rendered for another user (409) or
 * another organisation (404) changes nothing, and says so before anything about the user's role.
 */
export function formAction<Answer, Done extends object | string = string, Shown extends object = Record<never, never>>(
  call: (api: Caller, form: FormData, event: RequestEvent) => Promise<Answer>,
  { ofOrganisation = false, done, notice, failure }: ActionOptions<Answer, Done, Shown>,
) {
  return async function action(event: RequestEvent) {
    const form = await formFields(event);
    const ticked = tickedFields(form);
    const shown = async (body: ErrorBody) => ({ ticked, ...((await failure?.(form, body, event)) ?? ({} as Shown)) });
    const outdated = otherUser(event, form) ?? (ofOrganisation ? otherOrganisation(event, form) : null);
    if (outdated !== null) {
      const { status, ...body } = { ...outdated, outdated: true };
      event.locals.failure = { code: body.code };
      return fail(status, { ...body, ...(await shown(body)) });
    }

    let answer: Answer;
    try {
      answer = await call(event.locals.api, form, event);
    } catch (error) {
      // The form knows that it had a user: a cookie may be gone by now, or be left from a session long ago.
      const hadSession = form.has(renderedForField);
      const failed = await actionFailure(event, error, { hadSession, shown });
      // Without a script the page is loaded next, which leads to /login. With the cookie, it is remembered already.
      if (failed.data.signedOut && !event.locals.sessionEnded) await rememberPageOfEndedSession(event);
      return failed;
    }

    const posted = await notice?.(form, answer, event);
    if (posted) notify(event, posted);
    const result = typeof done === 'string' ? done : await done(form, answer, event);
    if (typeof result === 'string') redirect(303, result);
    return result as Exclude<Done, string>;
  };
}

type Outdated = { status: 404 | 409; error: string; code: ErrorBody['code'] };

/** The error of a form whose page was rendered for another user than the signed-in one; else null. */
function otherUser({ locals }: RequestEvent, form: FormData): Outdated | null {
  const user = signedInUser(locals)?.user;
  const renderedFor = form.get(renderedForField);
  if (user === undefined || renderedFor === null || renderedFor === user.id) return null;
  return { status: 409, error: texts('form').otherUser({ email: user.email }), code: 'CONFLICT' };
}

/** The error of a form whose page showed another organisation than the current one, with the JSON endpoints' status; else null. */
function otherOrganisation({ locals }: RequestEvent, form: FormData): Outdated | null {
  const organisation = signedInUser(locals)?.organisation;
  const shown = form.get('organisation_id');
  if (!organisation || shown === null || shown === organisation.id) return null;
  return { status: 404, error: texts('form').otherOrganisation, code: 'NOT_FOUND' };
}

/**
 * The answer of an action whose procedure failed: the JSON endpoint's status and body, and what `shown`
 * adds. The sentence says in how many minutes a rate limit ends, and what to do after the session has
 * ended. Errors that the router has not logged already are logged here.
 */
async function actionFailure<Shown extends object>(
  { locals, setHeaders }: Pick<RequestEvent, 'locals' | 'setHeaders'>,
  thrown: unknown,
  { hadSession, shown }: { hadSession: boolean; shown: (body: ErrorBody) => Shown | Promise<Shown> },
) {
  recordFailure(locals, thrown);
  const { status, body, retryAfterSeconds } = pageErrorOf(thrown);
  if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
  const signedOut = hadSession && locals.principal === null && body.code === 'UNAUTHENTICATED';
  const error = signedOut ? texts('form').signedOut : rateLimitText(body, retryAfterSeconds);
  return fail(status, { ...body, error, ...(signedOut && { signedOut }), ...(await shown(body)) });
}

/** "Too many attempts. Try again in 15 minutes." */
function rateLimitText({ code, error }: ErrorBody, retryAfterSeconds: number | undefined): string {
  if (code !== 'TOO_MANY' || retryAfterSeconds === undefined) return error;
  const minutes = Math.max(1, Math.ceil(retryAfterSeconds / 60));
  return texts('form').tooMany({ minutes });
}
