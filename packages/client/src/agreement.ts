import type { AppRouter } from '@gatehouse/api/router/root';
import type { inferRouterOutputs } from '@trpc/server';
import type {
  Change,
  Entitlement,
  Entitlements,
  Gauge,
  ListedOrganisation,
  Member,
  Session,
  Subscription,
  Token,
  UsageAnswer,
  UsageHistory,
  UsageReport,
} from './answers.ts';

type Answers = inferRouterOutputs<AppRouter>;
type Agree<One, Other> = [One, Other] extends [Other, One] ? true : false;

/** Compiles only if the plain types of answers.ts, which the client exports, equal the router's. */
export const agreement: {
  session: Agree<Session, Answers['sessions']['verify']>;
  subscription: Agree<Subscription, Answers['subscription']['read']>;
  entitlements: Agree<Entitlements, Answers['entitlements']['get']>;
  entitlement: Agree<Entitlement, Answers['entitlements']['check']>;
  reserve: Agree<UsageAnswer & { hold?: string }, Answers['usage']['reserve']>;
  commit: Agree<UsageAnswer, Answers['usage']['commit']>;
  release: Agree<UsageAnswer, Answers['usage']['release']>;
  report: Agree<UsageReport, Answers['usage']['report']>;
  set: Agree<Gauge, Answers['usage']['set']>;
  read: Agree<UsageHistory, Answers['usage']['read']>;
  change: Agree<Change, Answers['changes']['since']['changes'][number]>;
  member: Agree<Member, Answers['members']['list']['members'][number]>;
  token: Agree<Token, Answers['tokens']['issue']>;
  organisation: Agree<ListedOrganisation, Answers['organisations']['list']['organisations'][number]>;
} = {
  session: true,
  subscription: true,
  entitlements: true,
  entitlement: true,
  reserve: true,
  commit: true,
  release: true,
  report: true,
  set: true,
  read: true,
  change: true,
  member: true,
  token: true,
  organisation: true,
};
