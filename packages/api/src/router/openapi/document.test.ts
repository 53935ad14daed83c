import type { inferRouterOutputs } from '@trpc/server';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { endpoints } from '../endpoints.ts';
import { type AppRouter, appRouter } from '../root.ts';
import type { answers } from './answers.ts';
import { openApiDocument } from './document.ts';

type Written = { [Name in keyof typeof answers]: z.output<(typeof answers)[Name]> };
type Answers = inferRouterOutputs<AppRouter>;
type Agree<One, Other> = [One, Other] extends [Other, One] ? true : false;

/** Compiles only if the schemas of the document have the types of the router's answers. */
const agreement: {
  signUp: Agree<Written['SignUp'], Answers['accounts']['signUp']>;
  resend: Agree<Written['Done'], Answers['accounts']['resend']>;
  signIn: Agree<Written['Done'], Answers['signIn']['withPassword']>;
  signOut: Agree<Written['Done'], Answers['signIn']['out']>;
  session: Agree<Written['Session'], Answers['sessions']['verify']>;
  subscription: Agree<Written['Subscription'], Answers['subscription']['read']>;
  checkout: Agree<Written['Address'], Answers['billing']['checkout']>;
  currency: Agree<Written['Currency'], Answers['billing']['currency']>;
  portal: Agree<Written['Address'], Answers['billing']['portal']>;
  cancel: Agree<Written['SubscriptionRecord'], Answers['billing']['cancel']>;
  resume: Agree<Written['SubscriptionRecord'], Answers['billing']['resume']>;
  entitlements: Agree<Written['Entitlements'], Answers['entitlements']['get']>;
  entitlement: Agree<Written['Entitlement'], Answers['entitlements']['check']>;
  reserve: Agree<Written['Usage'], Answers['usage']['reserve']>;
  release: Agree<Written['Usage'], Answers['usage']['release']>;
  report: Agree<Written['Report'], Answers['usage']['report']>;
  gauge: Agree<Written['Gauge'], Answers['usage']['set']>;
  history: Agree<Written['UsageHistory'], Answers['usage']['read']>;
  organisations: Agree<Written['Organisations'], Answers['organisations']['list']>;
  members: Agree<Written['Members'], Answers['members']['list']>;
  users: Agree<Written['Users'], Answers['management']['users']>;
  user: Agree<Written['UserInDetail'], Answers['management']['user']>;
  createUser: Agree<Written['User'], Answers['management']['createUser']>;
  passwordLink: Agree<Written['PasswordLink'], Answers['management']['passwordLink']>;
  organisation: Agree<Written['Organisation'], Answers['management']['organisation']>;
  createOrganisation: Agree<Written['Organisation'], Answers['management']['createOrganisation']>;
  addMember: Agree<Written['Membership'], Answers['management']['addMember']>;
  changeMember: Agree<Written['Membership'], Answers['management']['changeMember']>;
  invitations: Agree<Written['Invitations'], Answers['management']['invitations']>;
  invite: Agree<Written['Invitation'], Answers['management']['invite']>;
  override: Agree<Written['Override'], Answers['management']['setOverride']>;
  changes: Agree<Written['Changes'], Answers['changes']['since']>;
  token: Agree<Written['Token'], Answers['tokens']['issue']>;
  keySet: Agree<Written['KeySet'], Answers['tokens']['keySet']>;
} = {
  entitlements: true,
  entitlement: true,
  reserve: true,
  release: true,
  report: true,
  gauge: true,
  history: true,
  organisations: true,
  members: true,
  users: true,
  user: true,
  createUser: true,
  passwordLink: true,
  organisation: true,
  createOrganisation: true,
  addMember: true,
  changeMember: true,
  invitations: true,
  invite: true,
  override: true,
  changes: true,
  token: true,
  keySet: true,
  signUp: true,
  resend: true,
  signIn: true,
  signOut: true,
  session: true,
  subscription: true,
  checkout: true,
  currency: true,
  portal: true,
  cancel: true,
  resume: true,
};

/**
 * The procedures of the router that the document does not hold, by the reason. They serve the pages of
 * this service and may change with them. `operators.*` means every procedure of that router.
 */
const internalProcedures: Record<string, string[]> = {
  'Pages that a link of a mail opens': [
    'accounts.passwordToken',
    'accounts.setPassword',
    'accounts.keepPassword',
    'accounts.changeToken',
    'accounts.confirmChange',
    'accounts.approveByDomain',
  ],
  'The onboarding and account pages': [
    'accounts.onboard',
    'accounts.approvalProgress',
    'accounts.profile',
    'accounts.activity',
    'accounts.endSession',
    'accounts.endOtherSessions',
    'accounts.changeName',
    'accounts.changeAddress',
    'accounts.resendAddressChange',
    'accounts.cancelAddressChange',
    'accounts.changePassword',
    'accounts.setFirstPassword',
    'accounts.unlinkIdentity',
    'accounts.connectIdentity',
    'accounts.confirmWithProvider',
    'accounts.newBrowsers',
    'accounts.acknowledgeBrowsers',
    'factors.requirement',
    'factors.totpSetup',
    'factors.warnings',
    'factors.review',
    'factors.answerReview',
    'signIn.step',
    'leaving.export',
    'leaving.deletion',
    'leaving.deleteAccount',
  ],
  'The page of API keys': ['keys.list', 'keys.create', 'keys.revoke'],
  'The billing page': [
    'billing.confirm',
    'billing.estimate',
    'billing.invoices',
    'subscription.overview',
    'subscription.overviewWithHistory',
  ],
  'The members, invitation and organisation pages': [
    'members.search',
    'members.invitations',
    'members.invite',
    'members.withdraw',
    'members.invitation',
    'members.join',
    'members.changeRole',
    'members.remove',
    'members.leave',
    'members.ownStarted',
    'members.startedBy',
    'organisations.changeBillingContact',
    'organisations.create',
    'organisations.auditLog',
    'organisations.withdraw',
    'organisations.mine',
    'organisations.read',
    'organisations.rename',
    'organisations.switch',
    'organisations.requireSecondFactor',
    'organisations.secondFactorRule',
    'organisations.transfer',
    'leaving.deleteOrganisation',
  ],
  'The operator console': ['operators.*'],
};

it('documents each procedure of the router, or names it as internal, once', () => {
  const documented = endpoints.map(({ id }) => id).filter((id) => id !== 'webhooks.payment');
  const all = Object.keys(appRouter._def.procedures);
  const internal = Object.values(internalProcedures)
    .flat()
    .flatMap((name) => (name.endsWith('.*') ? all.filter((one) => one.startsWith(name.slice(0, -1))) : [name]));
  expect([...documented, ...internal].sort()).toEqual(all.sort());
});

it('documents queries as GET and mutations as other methods', () => {
  const procedures = appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>;
  for (const { id, method } of endpoints) {
    if (id === 'webhooks.payment') continue;
    expect([id, procedures[id]?._def.type]).toEqual([id, method === 'get' ? 'query' : 'mutation']);
  }
});

it('has schemas with the types of the answers', () => {
  expect(Object.values(agreement)).not.toContain(false);
});

it('says of each operation that a key may call that it may be asked too often', () => {
  const { paths } = openApiDocument({ version: '1', publicBaseUrl: null, service: { name: 'Gatehouse' } });
  const silent = endpoints.filter(({ access, path, method }) => {
    return access.includes('key') && paths[path]?.[method]?.responses['429'] === undefined;
  });
  expect(silent.map(({ id }) => id)).toEqual([]);
});
