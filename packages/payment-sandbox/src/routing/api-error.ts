/** An error answer of the API, with the status, code and sentence of the real provider. */
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

/** Invalid parameters. The request was not performed, so an idempotency key does not store the answer. */
export class ParameterError extends ApiError {}

/** Returns the error for an unknown id: 404 if it is in the path, 400 if it is in a parameter. */
export function missing(kind: string, id: string, param = 'id'): ApiError {
  const status = param === 'id' ? 404 : 400;
  return new ApiError(status, `No such ${kind}: '${id}'`, { code: 'resource_missing', param });
}

/** Returns the error for a required parameter that is not sent. */
export function missingParameter(param: string): ParameterError {
  return new ParameterError(400, `Missing required param: ${param}.`, { code: 'parameter_missing', param });
}

/** Returns the error 400 for a request that the state does not allow. */
export function refused(message: string, details: { code?: string; param?: string } = {}): ApiError {
  return new ApiError(400, message, details);
}
