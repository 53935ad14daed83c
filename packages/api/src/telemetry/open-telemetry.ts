import { AsyncLocalStorage } from 'node:async_hooks';
import * as otel from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { noSpan, type Span, type SpanStart, type Traces } from './traces.ts';

const exportTimeoutMilliseconds = 5000;
const lastExportMilliseconds = 1500;

const kinds = { server: otel.SpanKind.SERVER, client: otel.SpanKind.CLIENT, consumer: otel.SpanKind.CONSUMER };

/**
 * Traces by OTLP over HTTP, to /v1/traces below the endpoint. Nothing is registered
 * globally: what is under way is kept here, and no library adds spans of its own.
 */
export function createOpenTelemetry(endpoint: string, log: Log): Traces {
  const exporter = complaining(
    log,
    new OTLPTraceExporter({ url: tracesUrl(endpoint), timeoutMillis: exportTimeoutMilliseconds }),
  );
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'gatehouse' }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: exportTimeoutMilliseconds })],
  });
  const tracer = provider.getTracer('gatehouse');
  const propagator = new W3CTraceContextPropagator();
  const underWay = new AsyncLocalStorage<otel.Context>();

  function open({ name, kind, attributes, parent }: SpanStart): { context: otel.Context; span: Span } {
    const above = parent ? contextOf(parent) : (underWay.getStore() ?? otel.ROOT_CONTEXT);
    const span = tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, above);
    return { context: otel.trace.setSpan(above, span), span: spanOf(span) };
  }

  /** Without a tracestate: it is whatever a stranger wrote. */
  function contextOf(traceparent: string): otel.Context {
    return propagator.extract(otel.ROOT_CONTEXT, { traceparent }, otel.defaultTextMapGetter);
  }

  return {
    async run(start, act) {
      const { context, span } = open(start);
      try {
        return await underWay.run(context, () => act(span));
      } catch (error) {
        span.fail(error);
        throw error;
      } finally {
        span.end();
      }
    },
    begin: (start) => (underWay.getStore() === undefined ? noSpan : open(start).span),
    carried() {
      const context = underWay.getStore();
      if (context === undefined) return undefined;
      const carrier: { traceparent?: string } = {};
      propagator.inject(context, carrier, otel.defaultTextMapSetter);
      return carrier.traceparent;
    },
    async close() {
      const late = new Promise<void>((resolve) => setTimeout(resolve, lastExportMilliseconds).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

/** The standard's meaning of OTEL_EXPORTER_OTLP_ENDPOINT: a base to which the signal's path is added. */
export function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

function spanOf(span: otel.Span): Span {
  return {
    set: (attributes) => void span.setAttributes(attributes),
    fail(error) {
      span.setStatus({ code: otel.SpanStatusCode.ERROR }).setAttribute('error.type', kindOf(error));
    },
    end: () => span.end(),
  };
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : typeof error;
  return codeOf(error) ?? error.name;
}

/** Says in the log when the collector stops taking spans, and when it takes them again; not each time. */
function complaining(log: Log, exporter: OTLPTraceExporter) {
  let away = false;
  function heard({ code, error }: ExportResult) {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed && !away) log.warn('Traces cannot be sent; those of this time are lost.', { code: codeOf(error) });
    if (!failed && away) log.info('Traces can be sent again.');
    away = failed;
  }

  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void) {
      exporter.export(spans, (result) => {
        heard(result);
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
