import { and, eq, isNull } from 'drizzle-orm';
import type { App } from '../../app.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities } from '../../platform/db/schema/accounts.ts';
import { AppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { type Method, usableMethods } from '../factors/has-factor.ts';
import { beginStep, type StepAttempt } from '../factors/step-attempt.ts';
import { isInEffect } from '../factors/who-must.ts';
import type { UserPrincipal } from '../principal.ts';
import { lockUnchangedAccount } from '../sessions/account.ts';
import { isTrustedBrowser, knownBrowserHash, tokenForBrowser } from '../sessions/known-browser.ts';
import { insertSession } from '../sessions/session.ts';

/** What a user has proved by the first step of a sign-in. */
export type FirstStep = {
  userId: string;
  organisationId: string | null;
  /** The address that was typed with the password; absent for a sign-in without it. */
  email?: string;
  /** The hash that the password matched; null for a sign-in without a password. */
  passwordHash?: string | null;
  /** The subject that the identity provider confirmed; null for a sign-in without it. */
  idpSubject?: string | null;
  /** The identity that is linked to the account once the second step is done; null if there is none to link. */
  linking?: StepAttempt['linking'];
  /** The session of the user that the new one replaces, which gave what it had to; null for a sign-in. */
  replaces?: ReplacedSession | null;
};

/** Whether its account had a second factor, and whether an identity of the provider was the one that was given. */
export type ReplacedSession = Pick<UserPrincipal, 'hasFactor' | 'identityFactor'>;

/** A session that begins, and the browser's token in the cookie `known`. */
export type Begun = { token: string; browserToken: string };

/** A session that has begun, or a second step that has to be done first. */
export type Opened =
  | ({ kind: 'session' } & Begun)
  | {
      kind: 'step';
      stepToken: string;
      methods: Method[];
      /** The session that waits for the step; null after a password, where nothing waits. */
      waitingToken: string | null;
    };

/**
 * Opens a session for a user who has done the first step, unless the account has a second factor: then the second step
 * begins. The only place that decides whether a way in needs one. A browser that the user trusts skips it, and so does
 * an identity that counts as a factor, except for operators and in an organisation that requires one; never the step that
 * links an identity.
 *
 * @throws AppError as `lockUnchangedAccount`; UNAUTHENTICATED if the factor was removed before which an identity is not
 *   linked; TOO_MANY after 60 attempts within ten minutes.
 */
export async function openSession(app: App, firstStep: FirstStep, client: Client): Promise<Opened> {
  const { userId, passwordHash = null, idpSubject = null, linking = null, replaces = null } = firstStep;
  const knownBrowser = client.knownBrowser ?? null;
  const browser = await tokenForBrowser(app, knownBrowser);

  return app.db.transaction(async (tx) => {
    // An identity that is yet to be linked proves nothing of the account.
    const proof = { ...firstStep, passwordHash, idpSubject: linking === null ? idpSubject : null };
    const account = await lockUnchangedAccount(tx, proof);
    const { organisationId } = account;
    const start = { userId, organisationId, passwordHash, idpSubject, client };

    const stepDone = replaces?.hasFactor === true;
    const byBrowser = stepDone || (await isTrustedBrowser(app, tx, { userId, token: knownBrowser }));
    const mayCount = linking === null && !account.operator && !isInEffect(app, account.secondFactorFrom);
    const byIdentity = idpSubject !== null && mayCount && (await countsAsFactor(app, tx, userId, idpSubject));
    const skips = linking === null && (byBrowser || byIdentity);
    if (!account.hasFactor || skips) {
      // The factor was removed meanwhile: a new sign-in links the identity without one.
      if (linking !== null) throw new AppError('UNAUTHENTICATED', message('sign_in_again'));
      // Without its factor a sign-in is not fresh.
      const fresh = !account.hasFactor && passwordHash !== null;
      const identityFactor = stepDone ? replaces.identityFactor : byIdentity && !byBrowser;
      const token = await insertSession(app, tx, { ...start, fresh, identityFactor, browserHash: browser.hash });
      return { kind: 'session', token, browserToken: browser.token };
    }

    const browserHash = await knownBrowserHash(app, tx, { userId, token: knownBrowser });
    const step = await beginStep(app, tx, { userId, organisationId, idpSubject, linking, browserHash });
    const waitsFor = { stepHash: step.idHash, endsAt: step.expiresAt };
    const waitingToken =
      idpSubject === null ? null : await insertSession(app, tx, { ...start, fresh: false, waitsFor });
    return { kind: 'step', stepToken: step.token, methods: await usableMethods(app, tx, userId), waitingToken };
  });
}

/** Whether a sign-in with a linked identity is a second factor of its own. */
async function countsAsFactor(app: App, tx: Transaction, userId: string, subject: string): Promise<boolean> {
  if (!app.config.idpTrustedForSecondFactor) return false;
  const isLinked = and(eq(identities.userId, userId), eq(identities.subject, subject), isNull(identities.unlinkedAt));
  return (await tx.$count(identities, and(isLinked, eq(identities.countsAsFactor, true)))) > 0;
}
