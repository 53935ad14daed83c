export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Record<string, unknown>;
export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void>;

type Options = { level: LogLevel; format: 'json' | 'pretty'; write?: (line: string, level: LogLevel) => void };

const levels: LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** A log that writes nothing. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Creates a log that writes one line per entry. Line breaks and control characters are
 * escaped, so that a value cannot forge an entry. Errors are written by name, message and
 * code only. Callers never pass a request's body, cookies or tokens.
 *
 * pino was tried: 63 kB and 22 ms of each start for some ten of these lines, since escaping and the description of
 * errors would remain. It is the first choice once the log needs transports or rotation.
 */
export function createLog({ level, format, write = writeToOutput }: Options): Log {
  const minimum = levels.indexOf(level);
  const render = format === 'json' ? jsonLine : prettyLine;

  function writerOf(entryLevel: LogLevel) {
    return (message: string, fields: LogFields = {}) => {
      if (levels.indexOf(entryLevel) < minimum) return;
      write(`${render(entryLevel, message, describeErrors(fields))}\n`, entryLevel);
    };
  }

  return { debug: writerOf('debug'), info: writerOf('info'), warn: writerOf('warn'), error: writerOf('error') };
}

/** The lines of this turn of the event loop that have not been written. */
let waiting = '';
let writesAtExit = false;

/**
 * Writes the lines of one turn of the event loop together, because each write is a system call. A line of
 * warn or error is written at once, with those before it. So only a process that is killed within the
 * turn loses lines, of the requests that it answered in that turn.
 */
function writeToOutput(line: string, level: LogLevel): void {
  if (!writesAtExit) process.once('exit', writeWaiting);
  writesAtExit = true;
  if (waiting === '') setImmediate(writeWaiting);
  waiting += line;
  if (level === 'warn' || level === 'error') writeWaiting();
}

function writeWaiting(): void {
  const lines = waiting;
  waiting = '';
  if (lines !== '') process.stdout.write(lines);
}

function describeErrors(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? describeError(value) : value]),
  );
}

/**
 * Describes an error and its causes in one line. The message of a failed query is left out,
 * because drizzle writes the query's parameters into it ("Failed query: … params: …").
 */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = 'code' in current && current.code !== undefined ? ` [${String(current.code)}]` : '';
    const message = current.message.startsWith('Failed query') ? 'failed query' : current.message;
    parts.push(`${current.name}${code}: ${message}`);
  }
  if (parts.length > 0) return parts.join(' < ');
  // Some libraries throw objects that resemble an Error but are not one.
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown };
  return String(message ?? error);
}

function jsonLine(level: LogLevel, message: string, fields: LogFields): string {
  return escapeControls(toJson({ time: new Date().toISOString(), level, message, ...fields }));
}

function prettyLine(level: LogLevel, message: string, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 19);
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${toJson(value)}`);
  return escapeControls(`${time} ${level.padEnd(5)} ${message}${rest.join('')}`);
}

/** Writes a value that JSON has no form for (a BigInt, an object that contains itself) as text: a log call never throws. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return toLenientJson(value);
  }
}

function toLenientJson(value: unknown): string {
  const ancestors: unknown[] = [];
  return JSON.stringify(value, function (this: unknown, _name, each: unknown) {
    if (typeof each === 'bigint') return String(each);
    if (typeof each !== 'object' || each === null) return each;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(each)) return '[circular]';
    ancestors.push(each);
    return each;
  });
}

/** Writes control characters and line separators as \uXXXX, which JSON reads as the same character. */
function escapeControls(line: string): string {
  return line.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const pauseMilliseconds = 60_000;
/** The reasons of one minute that are kept apart. Further ones are counted together. */
const maximumReasons = 20;

/** Logs a refusal, at most once a minute for each reason. */
export type LogRefusal = (reason: string) => void;

/**
 * Creates the log of refusals by one cause, such as a wrong signature. A line says how often its
 * reason occurred since its last line.
 */
export function createRefusalLog(log: Log, message: string, now: () => number = () => performance.now()): LogRefusal {
  const reasons = new Map<string, { loggedAt: number; unlogged: number }>();

  return (reason) => {
    const time = now();
    if (reasons.size >= maximumReasons && !reasons.has(reason)) reason = 'other reasons';
    const { loggedAt, unlogged } = reasons.get(reason) ?? { loggedAt: Number.NEGATIVE_INFINITY, unlogged: 0 };
    if (time - loggedAt < pauseMilliseconds) {
      reasons.set(reason, { loggedAt, unlogged: unlogged + 1 });
      return;
    }
    log.warn(message, { reason, times: unlogged + 1 });
    reasons.set(reason, { loggedAt: time, unlogged: 0 });
  };
}
