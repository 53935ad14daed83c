/** The title and text of an error page: what happened, and what the reader can do. */
export function errorText(status: number): { title: string; text: string } {
  switch (status) {
    case 401:
      return { title: 'Sign in first', text: 'This page is for people who are signed in.' };
    case 403:
      return { title: 'This page is not for you', text: 'You are signed in, but your role does not reach this far.' };
    case 404:
      return { title: 'There is no such page', text: 'The address may be mistyped, or the page has moved.' };
    case 405:
      return { title: 'That does not work here', text: 'This address does not take what was sent to it.' };
    case 413:
      return { title: 'That is too much at once', text: 'Send less, and try again.' };
    case 429:
      return { title: 'Too many attempts', text: 'Wait a few minutes, then try again.' };
    case 502:
      return {
        title: 'The payment provider does not answer',
        text: 'Nothing was changed. Try again in a few minutes.',
      };
    case 503:
      return { title: 'Busy at the moment', text: 'Nothing was changed. Load the page again in a moment.' };
    default:
      return status < 500
        ? { title: 'That did not work', text: 'Go back and try again.' }
        : { title: 'Something went wrong', text: 'It has been noted. Load the page again in a moment.' };
  }
}
