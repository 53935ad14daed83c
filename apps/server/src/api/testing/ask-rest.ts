import type { TestApp } from '@gatehouse/api/testing/app';
import { answer } from './serve-endpoints.ts';

type RequestOptions = {
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  cookies?: Record<string, string>;
};

// biome-ignore lint/suspicious/noExplicitAny: the tests look at any answer.
export type Answer = { status: number; body: any; headers: Headers };

/** Sends a request to a REST endpoint. */
export async function askRest(
  test: TestApp,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const { key, body, headers = {}, cookies = {} } = options;
  const request = new Request(new URL(path, 'http://localhost:3999'), {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      cookie: Object.entries(cookies)
        .map(([name, value]) => `${name}=${value}`)
        .join('; '),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const response = await answer(test.app, request);
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
}
