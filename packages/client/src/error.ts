/** Why a token is not valid. */
export type TokenReason =
  | 'malformed'
  | 'key_unknown'
  | 'signature'
  | 'expired'
  | 'not_yet_valid'
  | 'issuer'
  | 'audience';

/** Thrown when Gatehouse answers with an error, or does not answer. */
export class GatehouseError extends Error {
  override name = 'GatehouseError';
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The error code of the answer; TIMEOUT or UNREACHABLE if there was none; null if it did not come from Gatehouse. */
  readonly code: string | null;
  /** Why `tokens.verify` refused a token; null for any other error. */
  readonly reason: TokenReason | null;
  /** A sentence for each invalid field. */
  readonly fields: Record<string, string>;
  /** The whole answer: LIMIT_REACHED has meter, used, limit and allowed_by; GONE has oldest. */
  readonly body: Record<string, unknown>;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, code: string | null, sentence: string, more: Partial<GatehouseErrorDetail> = {}) {
    super(sentence, { cause: more.cause });
    this.status = status;
    this.code = code;
    this.reason = more.reason ?? null;
    this.body = more.body ?? {};
    this.fields = (this.body.fields ?? {}) as Record<string, string>;
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
  }
}

type GatehouseErrorDetail = {
  body: Record<string, unknown>;
  reason: TokenReason;
  retryAfterSeconds: number;
  cause: unknown;
};

const unavailableStatuses = new Set([0, 429, 500, 502, 503, 504]);

/** Whether an error says nothing of what was asked: Gatehouse, or what stands before it, could not answer it now. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof GatehouseError && unavailableStatuses.has(error.status);
}
