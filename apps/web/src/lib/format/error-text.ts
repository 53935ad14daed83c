/**
 * The title and text of an error page: what happened, and what the reader can do. A 500 that no
 * request id goes with was made by the browser, which got no answer.
 */
export function errorText(status: number, requestId?: string): { title: string; text: string } {
  if (status === 500 && requestId === undefined) {
    return { title: 'We could not reach the server', text: 'Check your connection, then load the page again.' };
  }
  switch (status) {
    case 401:
      return { title: 'Sign in first', text: 'This page is for people who are signed in.' };
    case 403:
      return { title: 'You don’t have access', text: 'Ask an owner or admin.' };
    case 404:
      return { title: 'Page not found', text: 'The address may be mistyped, or the page has moved.' };
    case 405:
      return { title: 'That doesn’t work here', text: 'This address does not take what was sent to it.' };
    case 413:
      return { title: 'That’s too large', text: 'Send less, and try again.' };
    case 429:
      return { title: 'Too many attempts', text: 'Wait a few minutes, then try again.' };
    case 502:
      return {
        title: 'The payment provider doesn’t answer',
        text: 'Nothing was changed. Try again in a few minutes.',
      };
    case 503:
      return { title: 'Too busy right now', text: 'Nothing was changed. Load the page again in a moment.' };
    default:
      return status < 500
        ? { title: 'That didn’t work', text: 'Go back and try again.' }
        : { title: 'Something went wrong', text: 'Load the page again in a moment.' };
  }
}
