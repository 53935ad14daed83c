/** Names and numbers of ours: never a token, a cookie, an address or what somebody typed. */
export type Attributes = Record<string, string | number>;

export type SpanStart = {
  name: string;
  kind: 'server' | 'client' | 'consumer';
  attributes?: Attributes;
  /** A W3C traceparent from elsewhere, below which it belongs; else it belongs to what is under way. */
  parent?: string | null;
};

/** One thing that is under way. */
export type Span = {
  set: (attributes: Attributes) => void;
  /** Marks it failed, by the kind of the error (or a word of ours) alone: its message may name somebody. */
  fail: (error: unknown) => void;
  end: () => void;
};

export type Traces = {
  /** Does something as a span; what it does in turn belongs to it. */
  run: <Result>(start: SpanStart, act: (span: Span) => Promise<Result>) => Promise<Result>;
  /** Begins a span within what is under way; outside of everything it is none. */
  begin: (start: SpanStart) => Span;
  /** What is under way as a traceparent, for a job to carry. */
  carried: () => string | undefined;
  /** Sends what is left, in two seconds at most. */
  close: () => Promise<void>;
};

export const noSpan: Span = { set() {}, fail() {}, end() {} };

export const noTraces: Traces = {
  run: (_start, act) => act(noSpan),
  begin: () => noSpan,
  carried: () => undefined,
  close: () => Promise.resolve(),
};
