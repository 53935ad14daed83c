import { planFrom } from '../billing/entitlement/read-plan.ts';
import { requireScope } from '../sessions/principal.ts';
import { anyone, router } from './trpc.ts';

export const sessionsRouter = router({
  /**
   * Who is it, for the company's other services. Asks the database nothing, because the
   * session's query has brought it all. Whoever belongs to no organisation any more is
   * refused like somebody at a shut gate: a reverse proxy lets in by the status alone.
   */
  verify: anyone.query(({ ctx }) => {
    const { user, organisation, role, scopes, planFacts } = requireScope(ctx.principal, 'READ');
    return {
      user: { id: user.id, email: user.email, name: user.name },
      organisation: organisation && { ...organisation, tier: planFrom(ctx.app, planFacts).tier },
      role,
      scopes,
    };
  }),
});
