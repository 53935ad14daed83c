/** The request header of a form that the page script sends. */
export const formHeader = 'x-form';

/** The response header that has the location of the redirect: fetch hides where a redirect leads. */
export const locationHeader = 'x-location';
