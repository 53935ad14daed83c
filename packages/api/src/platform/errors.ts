import { type Message, message, sentenceIn } from './messages.ts';

/**
 * Every code of an AppError, with its HTTP status and tRPC code. Handlers translate errors
 * by this table only.
 */
export const errorCodes = {
  VALIDATION: { status: 400, trpc: 'BAD_REQUEST' },
  BILLING_UNAVAILABLE: { status: 400, trpc: 'BAD_REQUEST' },
  NO_ORGANISATION: { status: 400, trpc: 'BAD_REQUEST' },
  UNAUTHENTICATED: { status: 401, trpc: 'UNAUTHORIZED' },
  SECOND_FACTOR_REQUIRED: { status: 401, trpc: 'UNAUTHORIZED' },
  FORBIDDEN: { status: 403, trpc: 'FORBIDDEN' },
  AWAITING_APPROVAL: { status: 403, trpc: 'FORBIDDEN' },
  LIMIT_REACHED: { status: 403, trpc: 'FORBIDDEN' },
  SECOND_FACTOR_SETUP: { status: 403, trpc: 'FORBIDDEN' },
  FRESH_SIGN_IN_REQUIRED: { status: 403, trpc: 'FORBIDDEN' },
  FOREIGN_ORIGIN: { status: 403, trpc: 'FORBIDDEN' },
  NOT_FOUND: { status: 404, trpc: 'NOT_FOUND' },
  METHOD_NOT_ALLOWED: { status: 405, trpc: 'METHOD_NOT_SUPPORTED' },
  CONFLICT: { status: 409, trpc: 'CONFLICT' },
  GONE: { status: 410, trpc: 'PRECONDITION_FAILED' },
  TOO_LARGE: { status: 413, trpc: 'PAYLOAD_TOO_LARGE' },
  NOT_JSON: { status: 415, trpc: 'UNSUPPORTED_MEDIA_TYPE' },
  TOO_MANY: { status: 429, trpc: 'TOO_MANY_REQUESTS' },
  INTERNAL: { status: 500, trpc: 'INTERNAL_SERVER_ERROR' },
  PROVIDER_UNAVAILABLE: { status: 502, trpc: 'BAD_GATEWAY' },
  BUSY: { status: 503, trpc: 'SERVICE_UNAVAILABLE' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** What an error says. A string is English for programs and commands alone: no page shows it. */
export type Text = Message | string;

type Detail = {
  fields?: Record<string, Text>;
  /** Details of the failure for programs, as JSON members beside `error`. */
  facts?: Record<string, unknown>;
  retryAfterSeconds?: number;
  /** What pages say instead, where the sentence for programs is fixed. */
  pageText?: Message;
  /** The user whom a failed request was about, for its log line. No answer contains it. */
  aboutUserId?: string | null;
  cause?: unknown;
};

/**
 * An expected failure of a request: a code for programs, a text for people, and a cause
 * for the operator's log only. `message` and `fields` are English, as JSON answers them; a page
 * writes `text` and `fieldTexts` in its language. Callers distinguish errors by `code`, never by
 * instanceof, because the built service and the admin commands contain separate copies of this class.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly text: Text;
  readonly fields: Record<string, string> | undefined;
  readonly fieldTexts: Record<string, Text> | undefined;
  readonly facts: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly pageText: Message | undefined;
  readonly aboutUserId: string | null;

  constructor(code: ErrorCode, text: Text, detail: Detail = {}) {
    super(englishOf(text), { cause: detail.cause });
    this.name = 'AppError';
    this.code = code;
    this.text = text;
    this.fields = detail.fields && englishOfAll(detail.fields);
    this.fieldTexts = detail.fields;
    this.facts = detail.facts;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.pageText = detail.pageText;
    this.aboutUserId = detail.aboutUserId ?? null;
  }
}

/** Whether an error is an AppError, from any copy of the class. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError' && 'code' in error && String(error.code) in errorCodes;
}

/** Returns the English sentence of a text. */
export function englishOf(text: Text): string {
  return typeof text === 'string' ? text : sentenceIn('en', text);
}

/** Returns what a thrown error says. */
export function textOf(error: unknown): Text {
  if (isAppError(error)) return error.text;
  return error instanceof Error ? error.message : String(error);
}

function englishOfAll(texts: Record<string, Text>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, englishOf(text)]));
}

/** Returns a VALIDATION error with a text for each invalid field. The first text is also the error's. */
export function invalid(fields: Record<string, Text>): AppError {
  return new AppError('VALIDATION', Object.values(fields)[0] ?? message('invalid_request'), { fields });
}

const connectionFailures = new Set([
  '25006', // read-only: a standby answered
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '58030', // an I/O error of the server
  'POOL_BUSY',
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

/**
 * The errors of a chain of causes that may be the database's, with their codes. Another system's failure and a client's
 * have the same codes of Node, and end the chain.
 */
function* databaseErrorsOf(error: unknown): Generator<{ code: string; message: string }> {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current.name === foreignName) return;
    if (isAppError(current) && current.code !== 'BUSY' && current.code !== 'INTERNAL') return;
    if ('code' in current) yield { code: String(current.code), message: current.message };
  }
}

/** Whether a failed statement, or its cause, has one of the SQLSTATEs. */
export function isSqlState(error: unknown, ...states: string[]): boolean {
  for (const { code } of databaseErrorsOf(error)) if (states.includes(code)) return true;
  return false;
}

/** Whether the database is unavailable or failing over, so that the same request may succeed on a retry. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (const { code } of databaseErrorsOf(error)) {
    if (connectionFailures.has(code) || lacksResources.test(code)) return true;
  }
  return false;
}

/** Why a database that reads refuses to write: its disk is full, or it is a standby or set to read only. */
export type WriteRefusal = 'disk_full' | 'read_only';

/** Returns why the database refused a write, or null if it did not. Such a database still reads. */
export function writeRefusalOf(error: unknown): WriteRefusal | null {
  if (isSqlState(error, '53100')) return 'disk_full';
  return isSqlState(error, '25006') ? 'read_only' : null;
}

/** SQLSTATEs of a full disk, too little memory and too many connections. */
const lacksResources = /^53[0-9A-Z]{3}$/;

/**
 * SQLSTATEs of a statement or transaction that the database cancelled: a deadlock, a failed serialization,
 * a timeout.
 */
const cancelledStates = new Set(['40001', '40P01', '55P03', '57014', '25P03', '25P04']);

/**
 * The remedy of each refusal that only the operator can correct, by SQLSTATE or the code of a TLS error.
 */
const databaseRemedies: [code: RegExp, message: RegExp, remedy: string][] = [
  [
    /^28/,
    /host "(?!\[local\]).*no encryption/,
    'If it accepts TLS only, add sslmode=verify-full or sslmode=require to DATABASE_URL; else correct pg_hba.conf or DATABASE_URL.',
  ],
  [
    /^28/,
    /SSL encryption/,
    'If it accepts no TLS here, remove sslmode from DATABASE_URL; else correct pg_hba.conf or DATABASE_URL.',
  ],
  [/^08P01$/, /startup parameter/, 'It is a pooler: set DATABASE_PREPARE=false.'],
  [/^28P01$/, /./, 'Correct the user and the password in DATABASE_URL.'],
  [/^28/, /./, 'Admit this user in pg_hba.conf, or correct DATABASE_URL.'],
  [/^3D000$/, /./, 'Create the database, or correct DATABASE_URL.'],
  [/^42501$/, /./, 'Make the user of DATABASE_URL the owner of its database.'],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    /./,
    'Its certificate is for another host name: correct the host in DATABASE_URL.',
  ],
  [/^CERT_HAS_EXPIRED$/, /./, 'Renew the certificate of the server in DATABASE_URL.'],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w*(CERT|SIGNATURE)\w*)$/,
    /./,
    'Name the certificate of its authority in NODE_EXTRA_CA_CERTS=/path/ca.pem, beside DATABASE_URL.',
  ],
];

/**
 * Returns a sentence that says why the database refuses the service, or its certificate is refused,
 * and how the operator corrects it. Returns null for any other failure.
 */
export function explainDatabaseRefusal(error: unknown): string | null {
  for (const { code, message } of databaseErrorsOf(error)) {
    const found = databaseRemedies.find(([codes, texts]) => codes.test(code) && texts.test(message));
    if (found === undefined) continue;
    // Node appends advice after a semicolon.
    const [reason] = message.split(';');
    return `The database ${/^[\dA-Z]{5}$/.test(code) ? 'refuses' : 'is not trusted'}: ${reason}. ${found[2]}`;
  }
  return null;
}

/**
 * Returns the sentence with which the start, the admin commands and the doctor name a database that refuses or is away;
 * null for any other failure.
 */
export function explainDatabaseFailure(error: unknown): string | null {
  const refused = explainDatabaseRefusal(error);
  if (refused !== null || !isDatabaseUnavailable(error)) return refused;
  return `The database does not answer (${codeOf(error) ?? 'UNKNOWN'}): start it, or correct DATABASE_URL.`;
}

/**
 * Returns the AppError in a chain of causes. Without one, returns BUSY while the database is
 * unavailable or refuses writes, else INTERNAL, with sentences that reveal nothing about the failure.
 */
export function toAppError(error: unknown): AppError {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isAppError(current)) return current;
  }
  if (writeRefusalOf(error) !== null) {
    const sentence = message('nothing_stored');
    return new AppError('BUSY', sentence, { cause: error, retryAfterSeconds: 10 });
  }
  if (
    isDatabaseUnavailable(error) ||
    explainDatabaseRefusal(error) !== null ||
    cancelledStates.has(codeOf(error) ?? '')
  ) {
    return new AppError('BUSY', message('busy'), { cause: error, retryAfterSeconds: 5 });
  }
  return new AppError('INTERNAL', message('something_went_wrong'), { cause: error });
}

/**
 * Returns another system's failure in a form that may be logged: our sentence, the numeric
 * status and the code. The original message and causes are left out, because they may quote
 * the other system's answer, including tokens. It is never taken for the database's.
 */
export function foreignFailure(sentence: string, error: unknown, status: unknown = null): Error {
  const code = codeOf(error);
  const failure = new Error(`${sentence}${typeof status === 'number' ? `: status ${status}` : ''}`);
  return Object.assign(failure, { name: foreignName }, code !== null && { code });
}

const foreignName = 'ForeignFailure';

/** A code of Node or an SDK, an SQLSTATE or an HTTP status. Tokens do not match. */
const codeForm = /^(?:[A-Z][A-Z0-9_]{1,63}|[a-z][a-z_]{1,63}|[0-9A-Z]{5}|\d{3})$/;

/** Returns the innermost code among an error and its causes, or null if none has the form of a code. */
export function codeOf(error: unknown): string | null {
  let code: string | null = null;
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && codeForm.test(String(current.code))) code = String(current.code);
  }
  return code;
}
