import type { IncomingMessage, ServerResponse } from 'node:http';
import { securityHeaders } from '@gatehouse/api/http/security-headers';
import type { Config } from '@gatehouse/api/platform/config';
import { createRefusalLog } from '@gatehouse/api/platform/log';
import { processLog } from './process-log.ts';

/** Why a request is refused, and after how many seconds the client may try again. */
const reasons = {
  /** The process is starting or stopping. */
  unready: {
    seconds: 2,
    error: 'The service is starting or stopping. Try again in a moment.',
    title: 'is starting or stopping',
    heading: 'is not ready yet',
    sentence: 'It is starting or stopping, which takes a moment.',
  },
  overloaded: {
    seconds: 5,
    error: 'The service is busy. Try again in a moment.',
    title: 'is busy',
    heading: 'is busy',
    sentence: 'There are more requests at the moment than it can answer.',
  },
};

type Reason = keyof typeof reasons;
type Refuse = (request: IncomingMessage, response: ServerResponse, reason: Reason) => void;

const overloadSentence = 'Requests are refused: more arrive than this process can answer.';

/**
 * Returns what answers a request with 503 and Retry-After: to a browser a page without script and external resource,
 * to a program JSON. A page that was asked for reloads itself; the answer to a POST must not. All bytes are prepared,
 * because these answers are sent when there is no time. Refusals for overload are logged.
 */
export function createRefusals(config: Config): Refuse {
  const { service } = config;
  const logRefusal = createRefusalLog(processLog(config), overloadSentence);
  const fixed = { ...securityHeaders(config), 'cache-control': 'no-store' };
  const ofJson = Object.entries({ ...fixed, 'content-type': 'application/json' }).flat();
  const pageHeaders = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': busyPagePolicy };
  const ofPage = Object.entries({ ...fixed, ...pageHeaders }).flat();

  function prepare(reason: Reason) {
    const { seconds, error } = reasons[reason];
    return {
      json: answer(JSON.stringify({ error, code: 'BUSY' }), ofJson, seconds),
      read: answer(busyPage(service.name, reason, { reloads: true }), ofPage, seconds),
      write: answer(busyPage(service.name, reason, { reloads: false }), ofPage, seconds),
    };
  }
  const answers = { unready: prepare('unready'), overloaded: prepare('overloaded') };

  return (request, response, reason) => {
    const { json, read, write } = answers[reason];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const { headers, body } = acceptsHtml(request) ? (isRead ? read : write) : json;
    if (reason === 'overloaded') logRefusal(reason);
    // The proxy opens its next connection to another node. An overloaded node would have to accept a new one.
    const connection = reason === 'unready' ? ['Connection', 'close'] : [];
    response.writeHead(503, [...headers, ...connection]).end(body);
  };
}

function answer(text: string, headers: string[], seconds: number) {
  const body = Buffer.from(text);
  return { body, headers: [...headers, 'Content-Length', String(body.length), 'Retry-After', String(seconds)] };
}

/** Browsers accept text/html when they open a page. Routes below /api and /webhooks answer JSON to every client. */
function acceptsHtml({ url = '', headers }: IncomingMessage): boolean {
  return (
    !/^(https?:\/\/[^/]*)?\/(api|webhooks)\//i.test(url) &&
    /\btext\/html\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(headers.accept ?? '')
  );
}

function busyPage(serviceName: string, reason: Reason, { reloads }: { reloads: boolean }): string {
  const { seconds, title, heading, sentence } = reasons[reason];
  const refresh = reloads ? `\n    <meta http-equiv="refresh" content="${seconds}">` : '';
  const advice = reloads
    ? 'This page reloads automatically.'
    : 'Nothing was changed. Go back and try again in a moment.';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">${refresh}
    <title>${escapeHtml(serviceName)} ${title}</title>
  </head>
  <body style="margin: 0; padding: 12vh 24px; font: 16px/1.5 system-ui, sans-serif">
    <main style="max-width: 400px; margin: 0 auto">
      <h1 style="font-size: 28px; line-height: 1.2; margin: 0 0 8px; overflow-wrap: anywhere">${escapeHtml(serviceName)} ${heading}</h1>
      <p role="status" style="margin: 0">${sentence} ${advice}</p>
    </main>
  </body>
</html>
`;
}

/** The Content-Security-Policy of the page. */
const busyPagePolicy = "default-src 'none'; style-src-attr 'unsafe-inline'; frame-ancestors 'none'";

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
