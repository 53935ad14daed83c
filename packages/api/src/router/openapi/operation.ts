import type { z } from 'zod';
import type { ErrorCode } from '../../platform/errors.ts';
import type { AnswerName } from './answers.ts';

/** One endpoint, as the document describes it. */
export type Operation = {
  method: 'get' | 'post' | 'put';
  /** The path, with parameters in braces: /api/usage/{meter}. */
  path: string;
  /** The router's procedure that answers, or null. */
  procedure: string | null;
  /** A unique name, also where no procedure answers. */
  id: string;
  tag: keyof typeof tags;
  summary: string;
  description?: string;
  /** Who may call it: anyone, a signed-in user, an API key, or a provider by its signature. */
  access: Access[];
  /** The scope that a session or key needs. */
  scope?: 'READ' | 'WRITE' | 'ADMIN';
  pathParameters?: z.ZodObject;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  body?: z.ZodType;
  answer: AnswerName;
  /** Headers of the answer, with their descriptions. */
  answerHeaders?: Record<string, string>;
  /** The codes beside those that every endpoint of its kind may answer. */
  errors: ErrorCode[];
  /** What a program finds beside `error` and `code`. */
  facts?: Partial<Record<ErrorCode, z.ZodObject>>;
};

export type Access = 'public' | 'session' | 'key';

export const tags = {
  Accounts: 'Sign-up, sign-in and the session.',
  Billing: "An organisation's plan and its payment.",
  Services: "For the company's own services, by an API key.",
  Service: 'About this service itself.',
};
