/** Names and numbers of the service: never a token, a cookie, an address or anything that a user typed. */
type Attributes = Record<string, string | number>;

export type SpanStart = {
  name: string;
  kind: 'server' | 'client' | 'consumer';
  attributes?: Attributes;
  /** A W3C traceparent from another process as the parent. Without one the active span is the parent. */
  parent?: string | null;
};

export type Span = {
  set: (attributes: Attributes) => void;
  /** Marks the span as failed, with the error's code or name only: its message may hold personal data. */
  fail: (error: unknown) => void;
  end: () => void;
};

export type Traces = {
  /** Runs a function within a span, which is the parent of the spans that the function begins. */
  run: <Result>(start: SpanStart, body: (span: Span) => Promise<Result>) => Promise<Result>;
  /** Begins a span below the active one. Without an active span nothing is recorded. */
  begin: (start: SpanStart) => Span;
  /** Returns the active span as a W3C traceparent, for a job's data. */
  carried: () => string | undefined;
  /** Sends the remaining spans, within two seconds. */
  close: () => Promise<void>;
};

export const noSpan: Span = { set() {}, fail() {}, end() {} };

export const noTraces: Traces = {
  run: (_start, body) => body(noSpan),
  begin: () => noSpan,
  carried: () => undefined,
  close: () => Promise.resolve(),
};
