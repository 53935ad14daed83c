const kept = 'What you typed is still here.';

/**
 * What to say when a form's answer is not a page of this service; null for any other answer. An
 * answer of the service carries a request id: without one the request did not arrive, or a proxy
 * answered in place of the service.
 */
export function unansweredText({ status, requestId }: App.Error, online: boolean): string | null {
  if (!online) return `You are offline. ${kept}`;
  if (status < 500) return null;
  if (requestId !== undefined) return `Something went wrong. ${kept}`;
  return status === 503 ? `The server is too busy right now. ${kept}` : `We could not reach the server. ${kept}`;
}
