import type { ServerResponse } from 'node:http';

/** What the token endpoint was about to answer, and the means to answer something else. */
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
  /** The JSON body as it would have been sent. */
  body: Record<string, unknown>;
  idToken: string;
  /** Takes the answer out of the provider's hands. */
  raw(write: (res: ServerResponse) => void): void;
}

/** One entry of the menu. */
export interface Answer {
  /** In words, for the page. */
  about: string;
  /** What a client that keeps the interface's rules does with it. */
  expect: 'refused' | 'accepted';
  /** The OpenID Foundation's relying-party test module of the same fault, where there is one. */
  module?: string;
  give(answer: TokenAnswer): void;
}

/** An answer whose claims are changed. A member that is set to undefined vanishes. */
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

/** An answer whose payload is no set of claims, rightly signed all the same. */
export function payload(about: string, change: (answer: TokenAnswer) => string | Buffer): Answer {
  return { about, expect: 'refused', give: (answer) => answer.withPayload(change(answer)) };
}

/** An answer with something else as its ID token. */
export function token(about: string, change: (answer: TokenAnswer) => unknown): Answer {
  return { about, expect: 'refused', give: (answer) => answer.withIdToken(change(answer)) };
}

/** An answer with another status or body. */
export function body(about: string, status: number, type: string, text: (answer: TokenAnswer) => string): Answer {
  return { about, expect: 'refused', give: (answer) => answer.withBody(status, type, text(answer)) };
}

/** An answer that is written byte by byte, or not at all. */
export function raw(
  about: string,
  expect: Answer['expect'],
  write: (res: ServerResponse, answer: TokenAnswer) => void,
): Answer {
  return { about, expect, give: (answer) => answer.raw((res) => write(res, answer)) };
}
