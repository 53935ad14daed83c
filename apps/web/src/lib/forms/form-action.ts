import { type ErrorBody, recordFailure } from '@gatehouse/api/http/error-response';
import type { Caller } from '@gatehouse/api/router/root';
import { fail, type RequestEvent, redirect } from '@sveltejs/kit';
import { texts } from '#lib/language/texts.ts';
import type { Notice, NoticeText } from '#lib/notices/notice.ts';
import { signedInUser } from '#lib/server/guards/page-guard.ts';
import { pageErrorOf } from '#lib/server/language/page-error.ts';
import { notify } from '#lib/server/session/notice.ts';
import { formFields } from './form-fields.ts';
import { renderedForField } from './rendered-for.ts';

type PostedNotice = Notice | NoticeText | null;

interface ActionOptions<Answer, Done, Shown> {
  /** The path to redirect to, or the data that the page shows instead of a redirect. */
  done: string | ((form: FormData, answer: Answer, event: RequestEvent) => Done | Promise<Done>);
  /** The notice that the next page shows once: see `notify`. */
  notice?: (form: FormData, answer: Answer, event: RequestEvent) => PostedNotice | Promise<PostedNotice>;
  /** What the page needs beside the error to show its form as it was typed. */
  failure?: (form: FormData, body: ErrorBody, event: RequestEvent) => Shown | Promise<Shown>;
}

/**
 * Returns a form action that passes the posted fields to a procedure of the router, and answers with a
 * redirect (303), with data, or with the procedure's error. A form whose page was rendered for another
 * user changes nothing: its answer is an error with status 409.
 */
export function formAction<Answer, Done extends object | string = string, Shown extends object = Record<never, never>>(
  call: (api: Caller, form: FormData, event: RequestEvent) => Promise<Answer>,
  { done, notice, failure }: ActionOptions<Answer, Done, Shown>,
) {
  return async function action(event: RequestEvent) {
    const form = await formFields(event);
    const shown = (body: ErrorBody) => failure?.(form, body, event) ?? ({} as Shown);
    const other = otherUser(event, form);
    if (other !== null) {
      const body = { error: texts('form').otherUser({ email: other }), code: 'CONFLICT', otherUser: true };
      event.locals.failure = { code: body.code };
      return fail(409, { ...body, ...(await shown(body)) });
    }

    let answer: Answer;
    try {
      answer = await call(event.locals.api, form, event);
    } catch (error) {
      return actionFailure(event, error, shown);
    }

    const posted = await notice?.(form, answer, event);
    if (posted) notify(event, posted);
    const result = typeof done === 'string' ? done : await done(form, answer, event);
    if (typeof result === 'string') redirect(303, result);
    return result as Exclude<Done, string>;
  };
}

/** The address of the signed-in user, where the form's page was rendered for another one; else null. */
function otherUser({ locals }: RequestEvent, form: FormData): string | null {
  const user = signedInUser(locals)?.user;
  const renderedFor = form.get(renderedForField);
  return user === undefined || renderedFor === null || renderedFor === user.id ? null : user.email;
}

/**
 * The answer of an action whose procedure failed: the JSON endpoint's status and body, and what `shown`
 * adds. The sentence says in how many minutes a rate limit ends, and what to do after the session has
 * ended. Errors that the router has not logged already are logged here.
 */
async function actionFailure<Shown extends object>(
  { locals, setHeaders }: Pick<RequestEvent, 'locals' | 'setHeaders'>,
  thrown: unknown,
  shown: (body: ErrorBody) => Shown | Promise<Shown>,
) {
  recordFailure(locals, thrown);
  const { status, body, retryAfterSeconds } = pageErrorOf(thrown);
  if (retryAfterSeconds !== undefined) setHeaders({ 'retry-after': String(retryAfterSeconds) });
  const signedOut = locals.sessionEnded && body.code === 'UNAUTHENTICATED';
  const error = signedOut ? texts('form').signedOut : rateLimitText(body, retryAfterSeconds);
  return fail(status, { ...body, error, ...(signedOut && { signedOut }), ...(await shown(body)) });
}

/** "Too many attempts. Try again in 15 minutes." */
function rateLimitText({ code, error }: ErrorBody, retryAfterSeconds: number | undefined): string {
  if (code !== 'TOO_MANY' || retryAfterSeconds === undefined) return error;
  const minutes = Math.max(1, Math.ceil(retryAfterSeconds / 60));
  return texts('form').tooMany({ minutes });
}
