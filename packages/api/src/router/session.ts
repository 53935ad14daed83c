import { readPlan } from '../billing/read-plan.ts';
import { requireScope } from '../sessions/principal.ts';
import { anyone, router } from './trpc.ts';

export const sessionRouter = router({
  /** Who is it, for the company's other services. */
  verify: anyone.query(async ({ ctx }) => {
    const { user, organisation, role, scopes } = requireScope(ctx.principal, 'READ');
    const plan = organisation && (await readPlan(ctx.app, organisation.id));
    return {
      user: { id: user.id, email: user.email, name: user.name },
      organisation: organisation && { ...organisation, tier: plan?.tier ?? 'free' },
      role,
      scopes,
    };
  }),
});
