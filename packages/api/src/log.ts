export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Record<string, unknown>;
export type Log = Record<LogLevel, (message: string, fields?: LogFields) => void>;

type Options = { level: LogLevel; format: 'json' | 'pretty'; write?: (line: string) => void };

const order: LogLevel[] = ['debug', 'info', 'warn', 'error'];

/**
 * A log that writes one line per entry, whatever the values hold: line breaks and
 * control characters are escaped, so nobody can forge an entry. Errors are written
 * by name, message and code only; what a request carried never comes here.
 */
export function createLog({ level, format, write = (line) => process.stdout.write(line) }: Options): Log {
  const least = order.indexOf(level);
  const render = format === 'json' ? jsonLine : prettyLine;

  function entry(at: LogLevel) {
    return (message: string, fields: LogFields = {}) => {
      if (order.indexOf(at) >= least) write(`${render(at, message, plain(fields))}\n`);
    };
  }

  return { debug: entry('debug'), info: entry('info'), warn: entry('warn'), error: entry('error') };
}

function plain(fields: LogFields): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? describeError(value) : value]),
  );
}

/**
 * An error and its causes as one text. A database driver's error names its query's
 * parameters in its message ("Failed query: … params: …"): that message is left out.
 */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) {
    const code = 'code' in at && at.code !== undefined ? ` [${String(at.code)}]` : '';
    const message = at.message.startsWith('Failed query') ? 'failed query' : at.message;
    parts.push(`${at.name}${code}: ${message}`);
  }
  if (parts.length > 0) return parts.join(' < ');
  // Some libraries pass on what only looks like an error.
  const { message } = (typeof error === 'object' && error !== null ? error : {}) as { message?: unknown };
  return String(message ?? error);
}

function jsonLine(level: LogLevel, message: string, fields: LogFields): string {
  return printable(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
}

function prettyLine(level: LogLevel, message: string, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 19);
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  return printable(`${time} ${level.padEnd(5)} ${message}${rest.join('')}`);
}

/** Control characters and line separators as \uXXXX, which is the same text in JSON. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
