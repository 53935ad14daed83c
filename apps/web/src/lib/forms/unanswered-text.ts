/** What became of a form without an answer, in the language of the page. */
interface KeptTexts {
  offline: string;
  broken: string;
  busy: string;
  unreached: string;
}

/**
 * What to say when a form's answer is not a page of this service; null for any other answer. An
 * answer of the service carries a request id: without one the request did not arrive, or a proxy
 * answered in place of the service.
 */
export function unansweredText({ status, requestId }: App.Error, online: boolean, kept: KeptTexts): string | null {
  if (!online) return kept.offline;
  if (status < 500) return null;
  if (requestId !== undefined) return kept.broken;
  return status === 503 ? kept.busy : kept.unreached;
}
