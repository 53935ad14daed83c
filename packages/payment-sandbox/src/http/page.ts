import { type Html, html } from './html.ts';

export interface Page {
  title: string;
  /** `wide` for lists, `narrow` for a single task. */
  width?: 'wide' | 'narrow';
  /** Seconds after which the browser reloads the page. */
  refreshSeconds?: number;
  body: Html;
}

/** Renders a whole page. Each page is marked as the sandbox's, so that it is not mistaken for the real provider's. */
export function page({ title, width = 'wide', refreshSeconds, body }: Page): string {
  return html`<!doctype html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · Sandbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/sandbox.css">
</head>
<body class="${width}">
<header><p class="sandbox-note"><strong>Sandbox.</strong> All data here is invented and stays on this machine. <a href="/">Start page</a></p></header>
<main>
${body}
</main>
</body>
</html>
`.markup;
}
