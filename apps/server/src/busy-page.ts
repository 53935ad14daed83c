/** What a person sees while there is no application: no script, nothing from elsewhere. A page that was asked for loads itself again. */
export function busyPage(serviceName: string, { retrySeconds }: { retrySeconds: number | null }): string {
  const refresh = retrySeconds === null ? '' : `\n    <meta http-equiv="refresh" content="${retrySeconds}">`;
  const next =
    retrySeconds === null
      ? 'Nothing was changed. Go back and try again in a moment.'
      : 'This page loads again by itself.';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">${refresh}
    <title>${inHtml(serviceName)} is starting or ending</title>
  </head>
  <body style="margin: 0; padding: 12vh 24px; font: 16px/1.5 system-ui, sans-serif">
    <main style="max-width: 400px; margin: 0 auto">
      <h1 style="font-size: 28px; line-height: 1.2; margin: 0 0 8px; overflow-wrap: anywhere">${inHtml(serviceName)} is not ready yet</h1>
      <p role="status" style="margin: 0">It is starting or ending, which takes a moment. ${next}</p>
    </main>
  </body>
</html>
`;
}

export const busyPagePolicy = "default-src 'none'; style-src-attr 'unsafe-inline'; frame-ancestors 'none'";

function inHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
