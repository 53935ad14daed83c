import { planFrom } from '../billing/entitlement/read-plan.ts';
import { router, scopedProcedure } from './trpc.ts';

export const sessionsRouter = router({
  /**
   * Returns the caller, for the company's other services. Runs no query: the session's query
   * has read everything. A user who no longer belongs to any organisation is refused with 403
   * like one who awaits approval, because a reverse proxy decides by the status alone.
   */
  verify: scopedProcedure('READ').query(({ ctx }) => {
    const { user, organisation, role, scopes, planFacts } = ctx.principal;
    return {
      user: { id: user.id, email: user.email, name: user.name },
      organisation: organisation && { ...organisation, tier: planFrom(ctx.app, planFacts).tier },
      role,
      scopes,
    };
  }),
});
