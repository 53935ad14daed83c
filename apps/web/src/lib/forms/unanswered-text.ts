import { formTexts } from '#lib/messages/shared/forms.ts';

/**
 * What to say when a form's answer is not a page of this service; null for any other answer. An
 * answer of the service carries a request id: without one the request did not arrive, or a proxy
 * answered in place of the service.
 */
export function unansweredText({ status, requestId }: App.Error, online: boolean): string | null {
  const { kept } = formTexts();
  if (!online) return kept.offline;
  if (status < 500) return null;
  if (requestId !== undefined) return kept.broken;
  return status === 503 ? kept.busy : kept.unreached;
}
