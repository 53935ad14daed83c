/**
 * Every way in which a request can be refused, with its HTTP status and the
 * tRPC code that stands for it. Doors translate by this table alone.
 */
export const errorCodes = {
  VALIDATION: { status: 400, trpc: 'BAD_REQUEST' },
  BILLING_UNAVAILABLE: { status: 400, trpc: 'BAD_REQUEST' },
  NO_ORGANISATION: { status: 400, trpc: 'BAD_REQUEST' },
  UNAUTHENTICATED: { status: 401, trpc: 'UNAUTHORIZED' },
  FORBIDDEN: { status: 403, trpc: 'FORBIDDEN' },
  AWAITING_APPROVAL: { status: 403, trpc: 'FORBIDDEN' },
  FOREIGN_ORIGIN: { status: 403, trpc: 'FORBIDDEN' },
  NOT_FOUND: { status: 404, trpc: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405, trpc: 'METHOD_NOT_SUPPORTED' },
  TOO_LARGE: { status: 413, trpc: 'PAYLOAD_TOO_LARGE' },
  NOT_JSON: { status: 415, trpc: 'UNSUPPORTED_MEDIA_TYPE' },
  TOO_MANY: { status: 429, trpc: 'TOO_MANY_REQUESTS' },
  INTERNAL: { status: 500, trpc: 'INTERNAL_SERVER_ERROR' },
  PROVIDER_UNAVAILABLE: { status: 502, trpc: 'BAD_GATEWAY' },
  BUSY: { status: 503, trpc: 'SERVICE_UNAVAILABLE' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

type Detail = {
  fields?: Record<string, string>;
  retryAfterSeconds?: number;
  cause?: unknown;
};

/**
 * A request that is turned down: a code for programs, a sentence for people, and
 * a cause for the operator's log alone. Told apart by `code`, never by instanceof,
 * because the built service and the command line hold separate copies of this class.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: Record<string, string> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, sentence: string, detail: Detail = {}) {
    super(sentence, { cause: detail.cause });
    this.name = 'AppError';
    this.code = code;
    this.fields = detail.fields;
    this.retryAfterSeconds = detail.retryAfterSeconds;
  }
}

export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError' && 'code' in error && String(error.code) in errorCodes;
}

/** One sentence per wrong field; the first of them is the sentence of the whole. */
export function invalid(fields: Record<string, string>): AppError {
  return new AppError('VALIDATION', Object.values(fields)[0] ?? 'This request is not valid.', { fields });
}

const connectionFailures = new Set([
  '25006', // read-only: a standby answered
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** Whether the database is away or changing hands, so that the same request may succeed in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && connectionFailures.has(String(at.code))) return true;
  }
  return false;
}

/** SQLSTATE: the user or its password, the database's name, a missing right. */
const databaseRefusals = /^(28[0-9A-Z]{3}|3D000|42501)$/;

/**
 * In a sentence, why the database refuses this service, so that only the operator can help;
 * null for any other failure.
 */
export function explainDatabaseRefusal(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (!('code' in at) || !databaseRefusals.test(String(at.code))) continue;
    if (at.code !== '42501') return `The database refuses: ${at.message}. Correct DATABASE_URL.`;
    return `The database refuses: ${at.message}. Make the user of DATABASE_URL the owner of its database.`;
  }
  return null;
}

/** The answer to any thrown thing: what was refused, or a generic failure that gives nothing away. */
export function toAppError(error: unknown): AppError {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isAppError(at)) return at;
  }
  if (isDatabaseAway(error) || explainDatabaseRefusal(error) !== null) {
    return new AppError('BUSY', 'The service is busy. Try again in a moment.', { cause: error, retryAfterSeconds: 5 });
  }
  return new AppError('INTERNAL', 'Something went wrong.', { cause: error });
}

/**
 * Another system's failure as it may be logged: our sentence, its numeric status, its
 * code. Its own message and causes are left out, because they may quote what the other
 * system wrote, tokens included.
 */
export function foreignFailure(sentence: string, error: unknown, status: unknown = null): Error {
  const code = codeOf(error);
  const failure = new Error(`${sentence}${typeof status === 'number' ? `: status ${status}` : ''}`);
  return code === null ? failure : Object.assign(failure, { code });
}

/** A code as Node and the SDKs write them, an SQLSTATE or an HTTP status: no token has one of these forms. */
const codeForm = /^(?:[A-Z][A-Z0-9_]{1,63}|[a-z][a-z_]{1,63}|[0-9A-Z]{5}|\d{3})$/;

/** The innermost code of an error and its causes, where it has the form of one. */
export function codeOf(error: unknown): string | null {
  let code: string | null = null;
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && codeForm.test(String(at.code))) code = String(at.code);
  }
  return code;
}
