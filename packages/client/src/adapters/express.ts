import {
  type Gatehouse,
  type GuardOptions,
  guardNode,
  type NodeRequest,
  type NodeResponse,
  type Session,
} from '../client.ts';

/** Middleware of Express: lets signed-in users through, with `response.locals.session`. */
export function requireSession(gatehouse: Gatehouse, options: GuardOptions = {}) {
  return async (
    request: NodeRequest,
    response: NodeResponse & { locals: { session?: Session } },
    next: (error?: unknown) => void,
  ): Promise<void> => {
    try {
      const session = await guardNode(gatehouse, request, response, options);
      if (session === null) return;
      response.locals.session = session;
    } catch (error) {
      return next(error);
    }
    next();
  };
}
