import type { AppRouter } from '@gatehouse/api/router/root';
import type { inferRouterOutputs } from '@trpc/server';
import type { Session, Subscription } from './answers.ts';

type Answers = inferRouterOutputs<AppRouter>;
type Agree<One, Other> = [One, Other] extends [Other, One] ? true : false;

/** Written out in answers.ts, so that whoever installs the client gets plain types; held against the router's here. */
export const agreement: {
  session: Agree<Session, Answers['sessions']['verify']>;
  subscription: Agree<Subscription, Answers['subscription']['read']>;
} = { session: true, subscription: true };
