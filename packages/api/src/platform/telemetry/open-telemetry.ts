import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import * as otel from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { noSpan, type Span, type SpanStart, type Traces } from './traces.ts';

const exportTimeoutMilliseconds = 5000;
const lastExportMilliseconds = 1500;

const kinds = { server: otel.SpanKind.SERVER, client: otel.SpanKind.CLIENT, consumer: otel.SpanKind.CONSUMER };

type Options = { endpoint: string; version: string };

/**
 * Creates traces that are sent by OTLP over HTTP to /v1/traces below the endpoint. Nothing is
 * registered globally: the active span is kept here, and no library adds spans of its own.
 */
export function createOpenTelemetry({ endpoint, version }: Options, log: Log): Traces {
  const exporter = loggingFailures(
    log,
    new OTLPTraceExporter({ url: tracesUrl(endpoint), timeoutMillis: exportTimeoutMilliseconds }),
  );
  const provider = new TracerProvider({
    resource: resourceOfProcess(version),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: exportTimeoutMilliseconds })],
  });
  const tracer = provider.getTracer('gatehouse');
  const propagator = new W3CTraceContextPropagator();
  const activeContext = new AsyncLocalStorage<otel.Context>();

  function open({ name, kind, attributes, parent }: SpanStart): { context: otel.Context; span: Span } {
    const parentContext = parent ? contextOf(parent) : (activeContext.getStore() ?? otel.ROOT_CONTEXT);
    const span = tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, parentContext);
    return { context: otel.trace.setSpan(parentContext, span), span: spanOf(span) };
  }

  /** The tracestate is not read, because any client may have written it. */
  function contextOf(traceparent: string): otel.Context {
    return propagator.extract(otel.ROOT_CONTEXT, { traceparent }, otel.defaultTextMapGetter);
  }

  return {
    async run(start, body) {
      const { context, span } = open(start);
      try {
        return await activeContext.run(context, () => body(span));
      } catch (error) {
        span.fail(error);
        throw error;
      } finally {
        span.end();
      }
    },
    begin: (start) => (activeContext.getStore() === undefined ? noSpan : open(start).span),
    carried() {
      const context = activeContext.getStore();
      if (context === undefined) return undefined;
      const carrier: { traceparent?: string } = {};
      propagator.inject(context, carrier, otel.defaultTextMapSetter);
      return carrier.traceparent;
    },
    async close() {
      const timeout = new Promise<void>((resolve) => setTimeout(resolve, lastExportMilliseconds).unref());
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
    },
  };
}

/** Returns the attributes of this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override and add attributes. */
function resourceOfProcess(version: string): Resource {
  const own = resourceFromAttributes({
    'service.name': 'gatehouse',
    'service.version': version,
    'service.instance.id': randomUUID(),
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

/** Appends the path for traces to OTEL_EXPORTER_OTLP_ENDPOINT, as the OTLP exporter specification says. */
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

/** Logs when the collector becomes unavailable and when it is available again, not each failed export. */
function loggingFailures(log: Log, exporter: OTLPTraceExporter) {
  let isUnavailable = false;
  function logChange({ code, error }: ExportResult) {
    const failed = code !== ExportResultCode.SUCCESS;
    if (failed && !isUnavailable)
      log.warn('Traces cannot be sent; those of this time are lost.', { code: codeOf(error) });
    if (!failed && isUnavailable) log.info('Traces can be sent again.');
    isUnavailable = failed;
  }

  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void) {
      exporter.export(spans, (result) => {
        logChange(result);
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
