import { listMembers } from '../members/list.ts';
import { router, scoped } from './trpc.ts';

export const membersRouter = router({
  list: scoped('READ').query(({ ctx }) => listMembers(ctx.app, ctx.principal)),
});
