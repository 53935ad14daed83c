import type { AppRouter } from '@gatehouse/api/router/root';
import type { inferRouterOutputs } from '@trpc/server';
import type { Session, Subscription } from './answers.ts';

type Answers = inferRouterOutputs<AppRouter>;
type Agree<One, Other> = [One, Other] extends [Other, One] ? true : false;

/** Compiles only if the plain types of answers.ts, which the client exports, equal the router's. */
export const agreement: {
  session: Agree<Session, Answers['sessions']['verify']>;
  subscription: Agree<Subscription, Answers['subscription']['read']>;
} = { session: true, subscription: true };
