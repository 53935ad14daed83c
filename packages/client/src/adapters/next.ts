import { type Gatehouse, type GuardOptions, guardRequest, type Session } from '../client.ts';

/** A route handler of Next for signed-in users: `export const GET = withSession(gatehouse, (request, session) => …)`. */
export function withSession<Rest extends unknown[]>(
  gatehouse: Gatehouse,
  handler: (request: Request, session: Session, ...rest: Rest) => Response | Promise<Response>,
  options: GuardOptions = {},
) {
  return async (request: Request, ...rest: Rest): Promise<Response> => {
    const session = await guardRequest(gatehouse, request, options);
    return session instanceof Response ? session : handler(request, session, ...rest);
  };
}
