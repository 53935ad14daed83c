/**
 * Returns the page that a browser gets before the application is loaded: no script and no
 * external resource. With `retrySeconds` the page reloads itself; after a POST it must not.
 */
export function busyPage(serviceName: string, { retrySeconds }: { retrySeconds: number | null }): string {
  const refresh = retrySeconds === null ? '' : `\n    <meta http-equiv="refresh" content="${retrySeconds}">`;
  const advice =
    retrySeconds === null
      ? 'Nothing was changed. Go back and try again in a moment.'
      : 'This page reloads automatically.';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">${refresh}
    <title>${escapeHtml(serviceName)} is starting or stopping</title>
  </head>
  <body style="margin: 0; padding: 12vh 24px; font: 16px/1.5 system-ui, sans-serif">
    <main style="max-width: 400px; margin: 0 auto">
      <h1 style="font-size: 28px; line-height: 1.2; margin: 0 0 8px; overflow-wrap: anywhere">${escapeHtml(serviceName)} is not ready yet</h1>
      <p role="status" style="margin: 0">It is starting or stopping, which takes a moment. ${advice}</p>
    </main>
  </body>
</html>
`;
}

/** The Content-Security-Policy of the page. */
export const busyPagePolicy = "default-src 'none'; style-src-attr 'unsafe-inline'; frame-ancestors 'none'";

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
