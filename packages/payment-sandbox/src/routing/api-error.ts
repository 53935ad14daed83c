/** An answer that refuses a request, in the real provider's words and codes. */
export class ApiError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly declineCode: string | undefined;

  constructor(
    status: number,
    message: string,
    details: { type?: string; code?: string; param?: string; declineCode?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.type = details.type ?? 'invalid_request_error';
    this.code = details.code;
    this.param = details.param;
    this.declineCode = details.declineCode;
  }

  body(): object {
    return {
      error: {
        ...(this.code && { code: this.code }),
        ...(this.declineCode && { decline_code: this.declineCode }),
        message: this.message,
        ...(this.param && { param: this.param }),
        type: this.type,
      },
    };
  }
}

/** The parameters themselves are wrong. Nothing ran, so an idempotency key does not keep the answer. */
export class ParameterError extends ApiError {}

/** 404 where the address names it, 400 where a parameter does. */
export function missing(kind: string, id: string, param = 'id'): ApiError {
  const status = param === 'id' ? 404 : 400;
  return new ApiError(status, `No such ${kind}: '${id}'`, { code: 'resource_missing', param });
}

export function refused(message: string, details: { code?: string; param?: string } = {}): ApiError {
  return new ApiError(400, message, details);
}
