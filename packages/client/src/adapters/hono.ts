import { type Gatehouse, type GuardOptions, guardRequest, type Session } from '../client.ts';

type Context = { req: { raw: Request }; set: (name: 'session', session: Session) => void };

/** Middleware of Hono: lets signed-in users through, with `c.get('session')`. */
export function requireSession(gatehouse: Gatehouse, options: GuardOptions = {}) {
  return async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const session = await guardRequest(gatehouse, context.req.raw, options);
    if (session instanceof Response) return session;
    context.set('session', session);
    await next();
    return undefined;
  };
}
