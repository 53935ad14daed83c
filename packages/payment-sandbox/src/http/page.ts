import { type Html, html } from './html.ts';

export interface Page {
  title: string;
  /** Wide pages hold lists, narrow ones hold one task. */
  width?: 'wide' | 'narrow';
  /** Seconds after which the page loads itself again. */
  refreshSeconds?: number;
  body: Html;
}

/** A whole page. Each says that it belongs to the sandbox, so that nobody takes it for the real thing. */
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
<header><p class="sandbox-note"><strong>Sandbox.</strong> Everything here is made up and stays on this machine. <a href="/">Start page</a></p></header>
<main>
${body}
</main>
</body>
</html>
`.markup;
}
