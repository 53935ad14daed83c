import { accountsRouter } from './accounts.ts';
import { billingRouter, entitlementsRouter, subscriptionRouter } from './billing.ts';
import { changesRouter } from './changes.ts';
import { factorsRouter } from './factors.ts';
import { managementRouter } from './management.ts';
import { keysRouter, leavingRouter, membersRouter } from './members.ts';
import { openApiDocument } from './openapi/document.ts';
import { operatorsRouter } from './operators.ts';
import { organisationsRouter } from './organisations.ts';
import { sessionsRouter, signInRouter, tokensRouter } from './sessions.ts';
import { createCallerFactory, publicProcedure, router } from './trpc.ts';
import { usageRouter } from './usage.ts';

export const appRouter = router({
  accounts: accountsRouter,
  billing: billingRouter,
  changes: changesRouter,
  entitlements: entitlementsRouter,
  factors: factorsRouter,
  keys: keysRouter,
  leaving: leavingRouter,
  management: managementRouter,
  members: membersRouter,
  operators: operatorsRouter,
  organisations: organisationsRouter,
  service: router({
    /** The OpenAPI document of this deployment. */
    openapi: publicProcedure.query(({ ctx }) => openApiDocument(ctx.app.config)),
  }),
  sessions: sessionsRouter,
  signIn: signInRouter,
  subscription: subscriptionRouter,
  tokens: tokensRouter,
  usage: usageRouter,
});

export type AppRouter = typeof appRouter;

/** Calls procedures in this process, as pages and REST adapters do. */
export const createCaller = createCallerFactory(appRouter);
export type Caller = ReturnType<typeof createCaller>;
