import type { AppRouter } from '@gatehouse/api/router/root';
import type { inferRouterOutputs } from '@trpc/server';
import type {
  Change,
  Entitlement,
  Entitlements,
  Gauge,
  Invitation,
  ListedOrganisation,
  Member,
  Membership,
  NewInvitation,
  Override,
  PasswordLink,
  Session,
  Subscription,
  Token,
  UsageAnswer,
  UsageHistory,
  UsageReport,
  User,
  UserInDetail,
} from './answers.ts';

type Answers = inferRouterOutputs<AppRouter>;
type Agree<One, Other> = [One, Other] extends [Other, One] ? true : false;
type AllTrue<Each extends Record<string, true>> = Each;

/** Compiles only if the plain types of answers.ts, which the client exports, equal the router's. */
export type Agreement = AllTrue<{
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
  users: Agree<User, Answers['management']['users']['users'][number]>;
  user: Agree<UserInDetail, Answers['management']['user']>;
  passwordLink: Agree<PasswordLink, Answers['management']['passwordLink']>;
  membership: Agree<Membership, Answers['management']['changeMember']>;
  invitation: Agree<Invitation, Answers['management']['invitations']['invitations'][number]>;
  newInvitation: Agree<NewInvitation, Answers['management']['invite']>;
  override: Agree<Override, Answers['management']['setOverride']>;
  managed: Agree<ListedOrganisation, Answers['management']['organisation']>;
  organisation: Agree<ListedOrganisation, Answers['organisations']['list']['organisations'][number]>;
}>;
