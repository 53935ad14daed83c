import { initTRPC, TRPCError } from '@trpc/server';
import type { App } from '../app.ts';
import { requireFresh } from '../auth/password/fresh-sign-in.ts';
import {
  type Principal,
  requireApproved,
  requireDeployment,
  requireFactor,
  requireManagingKey,
  requireOperator,
  requireOperatorsKey,
  requirePrincipal,
  requireScope,
  requireUser,
  requireWritingKey,
  type Scope,
  type UserPrincipal,
} from '../auth/principal.ts';
import type { Begun, FirstStep } from '../auth/sign-in/open-session.ts';
import { requireTokens } from '../auth/tokens/token-keys.ts';
import { AppError, errorCodes, isDatabaseUnavailable, toAppError } from '../platform/errors.ts';
import { message } from '../platform/messages.ts';
import { type Client, clientKey } from '../platform/security/client.ts';
import type { Points, Rule } from '../platform/security/throttle.ts';

export type Context = {
  app: App;
  principal: Principal | null;
  /** Whether the request has a session that waits for its second step. */
  stepPending?: boolean;
  requestId: string;
  client: Client;
  /** Sets the handler's cookies, so that a procedure starts or ends a session without seeing its token. */
  session: {
    /** @throws AppError SECOND_FACTOR_REQUIRED, with `methods`, where the second step begins instead. */
    start: (firstStep: FirstStep) => Promise<void>;
    /** Sets the cookies of a session that has begun after its second step. */
    begin: (begun: Begun) => Promise<void>;
    /** What the cookie of a second step holds; null without one. */
    stepToken: () => string | null;
    /** The cookie to which the challenges of a browser's passkeys are bound; null without one. */
    challengeCookie: () => string | null;
    rememberChallenge: (cookie: string) => void;
    end: () => Promise<void>;
    /** Sets the cookie of a session that has a new token. */
    renew: (sessionToken: string) => Promise<void>;
    /** The cookie that a sign-up sets, by which /verify recognises the browser. */
    rememberSignUp: (browserToken: string) => void;
    /** What that cookie holds; null in a browser that did not sign up. */
    browserToken: () => string | null;
    /** The cookie of a pending attempt at the identity provider. */
    rememberAttempt: (attempt: string) => void;
  };
};

const t = initTRPC.context<Context>().create({
  isDev: false,
  errorFormatter({ shape, error }) {
    const { message, code, fields, facts } = appErrorOf(error);
    // `code` is tRPC's own.
    return { ...shape, message, data: { ...shape.data, appCode: code, fields, facts } };
  },
});

/** Returns a procedure's error as an AppError. tRPC has errors of its own: no such procedure, a body that is not JSON. */
function appErrorOf(error: TRPCError): AppError {
  const appError = toAppError(error);
  if (appError.code !== 'INTERNAL') return appError;

  switch (error.code) {
    case 'INTERNAL_SERVER_ERROR':
      return appError;
    case 'NOT_FOUND':
      return new AppError('NOT_FOUND', 'There is no such procedure.');
    case 'METHOD_NOT_SUPPORTED':
      return new AppError('METHOD_NOT_ALLOWED', 'This method is not allowed here.');
    case 'UNSUPPORTED_MEDIA_TYPE':
      return new AppError('NOT_JSON', 'Send the body as JSON.');
    default:
      return new AppError('VALIDATION', 'This request cannot be read.', { cause: error });
  }
}

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

/**
 * Open to every caller. The only place that turns a thrown error into a tRPC error, by the table of
 * errorCodes, and that logs errors of status 500 and above.
 */
export const publicProcedure = t.procedure.use(async ({ ctx, next, path }) => {
  const result = await next();
  if (result.ok) return result;

  const appError = appErrorOf(result.error);
  const { status, trpc: code } = errorCodes[appError.code];
  if (status >= 500) {
    // An unavailable database has one line for all the requests that it fails.
    const level = appError.code === 'INTERNAL' ? 'error' : isDatabaseUnavailable(appError.cause) ? 'debug' : 'warn';
    ctx.app.log[level]('procedure failed', { requestId: ctx.requestId, path, error: appError.cause ?? appError });
  }
  throw new TRPCError({ code, message: appError.message, cause: appError });
});

/**
 * Open to every caller, at a limited rate per client. Counts before the input is parsed, so invalid requests count.
 *
 * @throws AppError TOO_MANY if the client has no points left.
 */
export function limited(rule: Rule) {
  return publicProcedure.use(async ({ ctx, next }) => {
    await ctx.app.throttle.take({ [rule]: clientKey(ctx.client) });
    return next();
  });
}

/**
 * Open to every caller whose client has points left. The use case takes the points.
 *
 * @throws AppError TOO_MANY if the client has no points left.
 */
export function whileNotLimited(limitsOf: (client: Client) => Points) {
  return publicProcedure.use(async ({ ctx, next }) => {
    await ctx.app.throttle.peek(limitsOf(ctx.client));
    return next();
  });
}

/**
 * Returns the principal of a request.
 *
 * @throws AppError UNAUTHENTICATED without a session or key; SECOND_FACTOR_REQUIRED in a session that waits for its
 *   second step; SECOND_FACTOR_SETUP in one whose user must set up a second factor first.
 */
function callerOf(ctx: Context, lacking?: Parameters<typeof requirePrincipal>[1]): Principal {
  const principal = presentedBy(ctx, lacking);
  requireFactor(principal);
  return principal;
}

/** Returns the principal of a request, also one whose user must set up a second factor first. */
function presentedBy(
  { principal, stepPending = false }: Context,
  lacking?: Parameters<typeof requirePrincipal>[1],
): Principal {
  if (principal === null && stepPending) throw new AppError('SECOND_FACTOR_REQUIRED', message('enter_second_factor'));
  return requirePrincipal(principal, lacking);
}

/** Returns the signed-in user of a request, who may still await approval. @throws AppError as `callerOf` and `requireUser`. */
function userOf(ctx: Context): UserPrincipal {
  return requireUser(callerOf(ctx, 'sign_in_first'));
}

/** As `userOf`, also for a user who must set up a second factor first. */
function userInSetup(ctx: Context): UserPrincipal {
  return requireUser(presentedBy(ctx, 'sign_in_first'));
}

/**
 * Open to signed-in users, also while the account awaits approval. This builder and those below
 * hold the only check of authority: a use case names the principal that it needs as a type.
 *
 * @throws AppError UNAUTHENTICATED without a session or key; AWAITING_APPROVAL or FORBIDDEN for a key.
 */
export const userProcedure = publicProcedure.use(({ ctx, next }) => next({ ctx: { principal: userOf(ctx) } }));

/**
 * As `userProcedure`, also for users who must set up a second factor first: what the page that sets one up needs.
 */
export const setupProcedure = publicProcedure.use(({ ctx, next }) => next({ ctx: { principal: userInSetup(ctx) } }));

/** As `setupProcedure`, for users whose gates are both open. */
export const approvedSetupProcedure = setupProcedure.use(({ ctx, next }) =>
  next({ ctx: { principal: requireApproved(ctx.principal) } }),
);

/**
 * Open to users whose gates are both open, also while their organisation requires a second factor that they have yet to
 * set up: they may act for another organisation, or leave this one. Not where the service requires it.
 *
 * @throws AppError as `approvedProcedure`.
 */
export const awayProcedure = approvedSetupProcedure.use(({ ctx, next }) => {
  if (ctx.principal.factorMissing !== 'organisation') requireFactor(ctx.principal);
  return next();
});

/**
 * Open to signed-in users whose client has points left, as `setupProcedure`. The use case takes the points.
 *
 * @throws AppError TOO_MANY or UNAUTHENTICATED, in this order; AWAITING_APPROVAL or FORBIDDEN for a key.
 */
export function userWhileNotLimited(limitsOf: (client: Client) => Points) {
  return whileNotLimited(limitsOf).use(({ ctx, next }) => next({ ctx: { principal: userInSetup(ctx) } }));
}

/**
 * Open to users whose gates are both open.
 *
 * @throws AppError UNAUTHENTICATED or AWAITING_APPROVAL, in this order; FORBIDDEN for a key.
 */
export const approvedProcedure = userProcedure.use(({ ctx, next }) =>
  next({ ctx: { principal: requireApproved(ctx.principal) } }),
);

/**
 * Open to users whose gates are both open, at a limited rate per client. Counts requests
 * without a session too.
 *
 * @throws AppError TOO_MANY, UNAUTHENTICATED or AWAITING_APPROVAL, in this order; FORBIDDEN for a key.
 */
export function limitedApprovedProcedure(rule: Rule) {
  return limited(rule).use(({ ctx, next }) => next({ ctx: { principal: requireApproved(userOf(ctx)) } }));
}

/**
 * Open to users with the scope. Checks it before the input is parsed.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export function scopedProcedure<Needed extends Scope>(scope: Needed) {
  return publicProcedure.use(({ ctx, next }) => next({ ctx: { principal: requireScope(userOf(ctx), scope) } }));
}

/**
 * Open to principals of every kind that hold the scope, keys included. Checks it before the input
 * is parsed.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export function anyPrincipalProcedure<Needed extends Scope>(scope: Needed) {
  return publicProcedure.use(({ ctx, next }) => next({ ctx: { principal: requireScope(callerOf(ctx), scope) } }));
}

/** As `anyPrincipalProcedure`, for what a session may never do: without a principal the error asks for a key. */
function keyProcedure<Needed extends Scope>(scope: Needed) {
  return publicProcedure.use(({ ctx, next }) => {
    const principal = callerOf(ctx, 'send_key');
    return next({ ctx: { principal: requireScope(principal, scope) } });
  });
}

/**
 * Open to keys with the scope MANAGE, which only the deployment has.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export const managingKeyProcedure = publicProcedure.use(({ ctx, next }) =>
  next({ ctx: { principal: requireManagingKey(callerOf(ctx, 'send_key')) } }),
);

/**
 * Open to keys with the scope WRITE.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export const writingKeyProcedure = keyProcedure('WRITE').use(({ ctx, next }) =>
  next({ ctx: { principal: requireWritingKey(ctx.principal) } }),
);

/**
 * Open to keys with the scope WRITE of the deployment, and to those that an operator made.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export const operatorsKeyProcedure = writingKeyProcedure.use(({ ctx, next }) =>
  next({ ctx: { principal: requireOperatorsKey(ctx.principal) } }),
);

/**
 * Open to principals of every kind that hold READ, where tokens are on.
 *
 * @throws AppError NOT_FOUND, UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export const tokenProcedure = publicProcedure.use(({ ctx, next }) =>
  next({ ctx: { app: requireTokens(ctx.app), principal: requireScope(callerOf(ctx), 'READ') } }),
);

/**
 * Open to keys of the deployment.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export const deploymentProcedure = keyProcedure('READ').use(({ ctx, next }) =>
  next({ ctx: { principal: requireDeployment(ctx.principal) } }),
);

/**
 * Open to operators.
 *
 * @throws AppError UNAUTHENTICATED, AWAITING_APPROVAL or FORBIDDEN, in this order.
 */
export const operatorProcedure = approvedProcedure.use(({ ctx, next }) =>
  next({ ctx: { principal: requireOperator(ctx.principal) } }),
);

/**
 * Lets a request pass in a fresh session only. Comes before the body is parsed.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED.
 */
export const fresh = t.middleware(({ ctx, next }) => {
  requireFresh(ctx.app, userInSetup(ctx));
  return next();
});

/**
 * Lets a request pass in a fresh session, or with a password in its body, which the use case checks by `confirmUser`.
 * Comes before the body is parsed, so that a body that cannot be read is refused after this.
 *
 * @throws AppError FRESH_SIGN_IN_REQUIRED.
 */
export const freshOrPassword = t.middleware(async ({ ctx, next, getRawInput }) => {
  const principal = userOf(ctx);
  const input = await getRawInput();
  const password = typeof input === 'object' && input !== null && 'password' in input ? input.password : null;
  if (typeof password !== 'string' || password === '') requireFresh(ctx.app, principal);
  return next();
});

/** The answer of an action that tells no more than that it was carried out. */
export async function done(action: Promise<unknown>): Promise<{ ok: true }> {
  await action;
  return { ok: true };
}

type UseCase<A extends App, P, I, R> = (app: A, principal: P, input: I, client: Client) => R;
type Resolver<A extends App, P, I, R> = (request: { ctx: { app: A; principal: P; client: Client }; input: I }) => R;

/**
 * Returns the resolver of a procedure that answers with what a use case returns. It does not compile where the procedure
 * has a weaker principal than the use case names.
 */
export function calls<A extends App, P, I, R>(useCase: UseCase<A, P, I, R>): Resolver<A, P, I, R> {
  return ({ ctx, input }) => useCase(ctx.app, ctx.principal, input, ctx.client);
}

/** As `calls`, for an action: the answer is that of `done`. */
export function does<A extends App, P, I>(
  useCase: UseCase<A, P, I, Promise<unknown>>,
): Resolver<A, P, I, Promise<{ ok: true }>> {
  return ({ ctx, input }) => done(useCase(ctx.app, ctx.principal, input, ctx.client));
}
