import { parseCookie } from 'cookie';
import { createEndpoints } from '../http/answer-endpoint.ts';
import { cookieJar, type RequestCookies } from '../http/cookies.ts';
import { authenticate, newRequestState, routerContext } from '../http/open-request.ts';
import type { RequestSource } from '../http/request.ts';
import { appRouter } from '../router/root.ts';
import type { TestApp } from './app.ts';

// biome-ignore lint/suspicious/noExplicitAny: the answers are as JSON clients see them.
type Answer = { status: number; headers: Record<string, string>; body: any };

/** A browser with cookies of its own, which calls the service's endpoints as apps/server passes them. */
export function newBrowser(test: TestApp, { address = '127.0.0.1', kept = {} as Record<string, string> } = {}) {
  const cookies = new Map(Object.entries(kept));

  function keep(lines: string[]) {
    for (const line of lines) {
      const [[name, value] = ['', '']] = Object.entries(parseCookie(line.split(';')[0] ?? ''));
      if (!value || /max-age=0(;|$)/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
  }

  function open(method: string, pathname: string, content?: object) {
    const body = Buffer.from(JSON.stringify(content ?? {}));
    const jar: RequestCookies & { lines: string[] } = cookieJar(
      [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    );
    const headers = new Headers({ 'content-type': 'application/json', 'user-agent': 'test' });
    const source: RequestSource & { search: string } = {
      ...{ method, pathname, headers, cookies: jar, search: '', client: { address } },
      signal: new AbortController().signal,
      language: () => 'en',
      readBytes: async () => body,
    };
    return { source, jar };
  }

  async function call(method: string, pathname: string, content?: object): Promise<Answer> {
    const { source, jar } = open(method, pathname, content);
    const answer = await createEndpoints(test.app)(source);
    keep(jar.lines);
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body) };
  }

  return {
    get: (pathname: string) => call('GET', pathname),
    post: (pathname: string, content?: object) => call('POST', pathname, content),
    /** Calls a procedure that no endpoint answers, as pages do. */
    async trpc(procedure: string, input: unknown): Promise<Answer> {
      const { source, jar } = open('POST', `/api/trpc/${procedure}`);
      const state = newRequestState(test.app);
      await authenticate(state, source);
      const [area = '', name = ''] = procedure.split('.');
      const caller = appRouter.createCaller(routerContext(state)) as unknown as Record<
        string,
        Record<string, (input: unknown) => Promise<unknown>>
      >;
      try {
        const body = await caller[area]?.[name]?.(input);
        return { status: 200, headers: {}, body };
      } catch (error) {
        const { cause, message } = error as Error & { cause?: { code?: string } };
        return { status: 400, headers: {}, body: { error: { message, data: { appCode: cause?.code } } } };
      } finally {
        keep(jar.lines);
      }
    },
    cookies: () => [...cookies.keys()].sort(),
    cookie: (name: string) => cookies.get(name) ?? null,
    /** A browser of a thief who has read the cookies. */
    copy: () => newBrowser(test, { address, kept: Object.fromEntries(cookies) }),
  };
}
