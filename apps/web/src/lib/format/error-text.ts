import { texts } from '#lib/language/texts.ts';

/**
 * The title and text of an error page: what happened, and what the user can do. A 500
 * without a request id comes from Kit in the browser, which got no answer. `operatorsOf` is the service's name on the
 * pages that are for its operators alone.
 */
export function errorText(status: number, requestId?: string, operatorsOf?: string): { title: string; text: string } {
  const t = texts('error');
  if (status === 500 && requestId === undefined) return t.unreached;
  switch (status) {
    case 401:
      return t.signInFirst;
    case 403:
      return operatorsOf === undefined
        ? t.noAccess
        : { title: t.noAccess.title, text: t.operatorsOnly({ service: operatorsOf }) };
    case 404:
      return t.notFound;
    case 405:
      return t.wrongMethod;
    case 413:
      return t.tooLarge;
    case 429:
      return t.tooMany;
    case 502:
      return t.providerAway;
    case 503:
      return t.busy;
    default:
      return status < 500 ? t.failed : t.broken;
  }
}
