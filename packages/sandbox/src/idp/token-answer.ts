import type { ServerResponse } from 'node:http';

/** The answer that the token endpoint has prepared, with functions that replace it. */
export interface TokenAnswer {
  claims: Record<string, unknown>;
  issuer: string;
  bareIssuer: string;
  clientId: string;
  now: number;
  /** Answers with a token of these claims, or of this payload. */
  withClaims(claims: Record<string, unknown>): void;
  withPayload(payload: string | Buffer): void;
  /** Answers with this text as the ID token. */
  withIdToken(token: unknown): void;
  withBody(status: number, type: string, body: string, headers?: Record<string, string>): void;
  /** The prepared JSON body. */
  body: Record<string, unknown>;
  idToken: string;
  /** Answers by writing to the response directly. */
  raw(write: (res: ServerResponse) => void): void;
}

/** One kind of answer. */
export interface Answer {
  /** A description for the page. */
  about: string;
  /** What a client that follows the interface does with it. */
  expect: 'refused' | 'accepted';
  /** The relying-party test module of the OpenID Foundation for the same fault, if there is one. */
  module?: string;
  give(answer: TokenAnswer): void;
}

/** Returns an answer with changed claims. A claim that is set to undefined is left out. */
export function claims(
  about: string,
  expect: Answer['expect'],
  change: (answer: TokenAnswer) => Record<string, unknown>,
  module?: string,
): Answer {
  return {
    about,
    expect,
    ...(module && { module }),
    give: (answer) => answer.withClaims({ ...answer.claims, ...change(answer) }),
  };
}

/** Returns an answer whose payload is not a set of claims, with a valid signature. */
export function payload(about: string, change: (answer: TokenAnswer) => string | Buffer): Answer {
  return { about, expect: 'refused', give: (answer) => answer.withPayload(change(answer)) };
}

/** Returns an answer with another value as its ID token. */
export function token(about: string, change: (answer: TokenAnswer) => unknown): Answer {
  return { about, expect: 'refused', give: (answer) => answer.withIdToken(change(answer)) };
}

/** Returns an answer with another status or body. */
export function body(about: string, status: number, type: string, text: (answer: TokenAnswer) => string): Answer {
  return { about, expect: 'refused', give: (answer) => answer.withBody(status, type, text(answer)) };
}

/** Returns an answer that is written to the response directly, or not at all. */
export function raw(
  about: string,
  expect: Answer['expect'],
  write: (res: ServerResponse, answer: TokenAnswer) => void,
): Answer {
  return { about, expect, give: (answer) => answer.raw((res) => write(res, answer)) };
}
