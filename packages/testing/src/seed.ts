import type { App } from '@gatehouse/api/app';
import { deleteSession, readSession, startSession } from '@gatehouse/api/auth/sessions/session';
import { signUp, signUpInput } from '@gatehouse/api/auth/sign-up/sign-up';
import { verifyEmail } from '@gatehouse/api/auth/verification/verify-email';
import { commandLine } from '@gatehouse/api/operators/actor';
import { findUser } from '@gatehouse/api/operators/find-accounts';
import { approveOwner } from '@gatehouse/api/operators/queue/decide';
import { createCaller } from '@gatehouse/api/router/root';
import { settled } from './advance.ts';
import type { Role, Seed, SeededOrganisation, SeededUser } from './calls.ts';
import type { Service } from './service.ts';

const client = { address: '127.0.0.1', userAgent: '@gatehouse/testing' };
const password = 'the pass phrase of a test';
let made = 0;

/**
 * Makes organisations by what makes them in production: sign-up, the link in the mail, an operator's approval, a checkout
 * that the owner pays, invitations. One after the other, because the service bounds the passwords that it hashes at once.
 *
 * @throws AppError of a use case, such as LIMIT_REACHED where the plan has no room for the members.
 */
export async function seed(
  service: Service,
  { organisations = ['Company'], members = [], plan }: Seed,
): Promise<SeededOrganisation[]> {
  const all: SeededOrganisation[] = [];
  for (const name of organisations) all.push(await seedOrganisation(service, { name, members, plan }));
  return all;
}

async function seedOrganisation(
  service: Service,
  { name, members, plan }: { name: string; members: readonly Role[]; plan: string | undefined },
): Promise<SeededOrganisation> {
  const { app, sandbox } = service;
  const owner = await makeUser(service, 'owner', { org_name: name });
  await approveOwner(app, { userId: owner.id }, commandLine);

  return signedIn(app, owner, async (api, organisation) => {
    if (plan !== undefined) {
      const { url } = await api.billing.checkout({ tier: plan, organisation_id: organisation.id });
      sandbox.payment.payCheckout(url);
      await settled(service);
    }
    const others: SeededUser[] = [];
    for (const role of members) {
      const { url } = await api.members.invite({ organisation_id: organisation.id, role });
      const token = new URL(url).searchParams.get('token') ?? '';
      const member = await makeUser(service, role, { invitation: token });
      await signedIn(app, member, (theirs) => theirs.members.join({ token }));
      others.push(member);
    }
    return { ...organisation, name, owner, members: others };
  });
}

/** Signs a user up and opens the link in the mail. */
async function makeUser(
  { app, sandbox }: Service,
  role: SeededUser['role'],
  of: { org_name?: string; invitation?: string },
): Promise<SeededUser> {
  made += 1;
  const email = `${role}-${made}@company.example`;
  const { browserToken } = await signUp(app, signUpInput.parse({ email, password, ...of }), client);
  const { text } = await sandbox.mailbox.waitFor(email);
  const token = /\/verify\?token=([\w-]+)/.exec(text)?.[1] ?? '';
  await verifyEmail(app, { token, browserToken }, client);
  const { id } = await findUser(app.db, email);
  return { id, email, password, role };
}

type Api = ReturnType<typeof createCaller>;

/** Calls the router as a user, in a session that ends with it. */
async function signedIn<Result>(
  app: App,
  { id: userId, email }: SeededUser,
  act: (api: Api, organisation: { id: string; slug: string }) => Promise<Result>,
): Promise<Result> {
  const token = await startSession(app, { userId, organisationId: null, fresh: true, client });
  const principal = await readSession(app, token);
  if (principal === null) throw new Error(`${email} cannot sign in.`);
  const none = async () => {};
  const api = createCaller({
    app,
    principal,
    requestId: 'testing',
    client,
    session: {
      start: none,
      begin: none,
      end: none,
      renew: none,
      stepToken: () => null,
      challengeCookie: () => null,
      browserToken: () => null,
      rememberChallenge: () => {},
      rememberSignUp: () => {},
      rememberAttempt: () => {},
    },
  });
  const result = await act(api, principal.organisation ?? { id: '', slug: '' });
  await deleteSession(app, token);
  return result;
}
