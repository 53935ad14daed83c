import type { z } from 'zod';
import type { ErrorCode } from '../platform/errors.ts';
import type { AnswerName } from './openapi/answers.ts';

/** A JSON endpoint: what answers it, and what the OpenAPI document says of it. */
export type Endpoint = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** The path, with parameters in braces: /api/usage/{meter}. */
  path: string;
  /** The input that the parameters of the path are, where the procedure has other names for them. */
  inputOfPath?: (params: Record<string, string>) => Record<string, string>;
  /** Headers of the answer, derived from its body. */
  headersOf?: (answer: never) => Record<string, string>;
  /** The router's procedure that answers; `webhooks.payment` calls its use case. */
  id: string;
  tag: keyof typeof tags;
  summary: string;
  description?: string;
  /** Who may call it: anyone, a signed-in user, a product by the shared cookie of its user, or an API key. */
  access: ('public' | 'session' | 'shared' | 'key')[];
  /** The scope that a session or key needs. */
  scope?: 'READ' | 'WRITE' | 'ADMIN' | 'MANAGE';
  pathParameters?: z.ZodObject;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  body?: z.ZodType;
  answer: AnswerName;
  /** 201 where it creates something; else 200. */
  status?: 201;
  /** Headers of the answer, with their descriptions. */
  answerHeaders?: Record<string, string>;
  /** The codes beside those that every endpoint of its kind may answer. */
  errors: ErrorCode[];
};

export const tags = {
  Accounts: 'Sign-up, sign-in and the session.',
  Billing: "An organisation's plan and its payment.",
  Services: "For the company's own services, by an API key.",
  Management:
    'What operators do in the console, for the company’s own programs, by an API key of the deployment with the scope MANAGE. A member of a body that is not described is refused.',
  Service: 'About this service itself.',
};
