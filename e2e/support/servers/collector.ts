import http from 'node:http';
import { listenLocally } from './listen-locally.ts';

type CollectedSpan = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: object }[];
};

type Collector = {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: CollectedSpan[];
  /** Returns everything that was received, unparsed. */
  received: () => string;
  stop: () => Promise<void>;
};

/** Starts a collector of traces that accepts OTLP over HTTP, as JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  let received = '';
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    received += body;
    if (request.url === '/v1/traces') {
      for (const { scopeSpans } of JSON.parse(body).resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const { port, stop } = await listenLocally(server);

  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    received: () => received,
    stop,
  };
}
