/** A refused request, with the status, code and sentence of the real provider. */
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

/** Invalid parameters. Nothing was carried out, so an idempotency key does not keep the answer. */
export class ParameterError extends ApiError {}

/** There is no such object: 404 if the address names it, 400 if a parameter does. */
export function missing(kind: string, id: string, param = 'id'): ApiError {
  const status = param === 'id' ? 404 : 400;
  return new ApiError(status, `No such ${kind}: '${id}'`, { code: 'resource_missing', param });
}

/** A request that the state does not allow: status 400. */
export function refused(message: string, details: { code?: string; param?: string } = {}): ApiError {
  return new ApiError(400, message, details);
}
