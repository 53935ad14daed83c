import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { App } from '../../app.ts';
import { recordAudit } from '../../audit/record.ts';
import type { Transaction } from '../../platform/db/client.ts';
import { identities } from '../../platform/db/schema/accounts.ts';
import { AppError, invalid, isAppError } from '../../platform/errors.ts';
import { message } from '../../platform/messages.ts';
import type { Client } from '../../platform/security/client.ts';
import { codeFields, hasCode, type TypedCodes, takeCode, wrongCode } from '../factors/check-code.ts';
import { usableMethods } from '../factors/has-factor.ts';
import {
  passkeyField,
  refusedPasskey,
  type TypedPasskey,
  takePasskey,
  type VerifiedPasskey,
  verifyPasskey,
} from '../factors/passkeys.ts';
import { countWrongAnswer, endStep, readStep, type StepAttempt } from '../factors/step-attempt.ts';
import { accountById, lockUnchangedAccount, lockUser } from '../sessions/account.ts';
import { tokenForBrowser, trustBrowser } from '../sessions/known-browser.ts';
import { insertSession } from '../sessions/session.ts';
import { endSignUps } from '../sign-up/pending-sign-up.ts';
import { findIdentity, identitiesOf, linkIdentity } from './match-user.ts';
import type { Begun } from './open-session.ts';

export const secondStepInput = z.object({
  ...codeFields,
  passkey: passkeyField.optional(),
  /** Skips the step in this browser for 30 days. */
  trust: z.boolean({ error: 'This must be true or false.' }).optional(),
});

/**
 * Does the second step of a sign-in, and begins its session. An identity that waited for it is linked, and counts as a
 * factor from then on. A wrong answer counts; the tenth ends the attempt.
 *
 * @throws AppError UNAUTHENTICATED if the code is wrong, or there is no attempt, or it has ended; FORBIDDEN if the account
 *   is closed; VALIDATION without a code; TOO_MANY.
 */
export async function finishSecondStep(
  app: App,
  { trust: trusts = false, passkey, ...codes }: z.output<typeof secondStepInput>,
  { stepToken, challengeCookie }: StepCookies,
  client: Client,
): Promise<Begun> {
  const verified = passkey === undefined ? null : await verifiedOrNull(app, passkey, challengeCookie, client);
  const begun = await answerStep(app, {
    codes,
    passkey: passkey === undefined ? undefined : verified,
    trusts,
    stepToken,
    client,
  });
  if (begun === null) throw passkey === undefined ? wrongCode() : refusedPasskey();
  return begun;
}

/** The cookies of a second step and of a passkey's challenge. */
export type StepCookies = { stepToken: string | null; challengeCookie: string | null };

/** A refused passkey is a wrong answer of the attempt too. */
function verifiedOrNull(app: App, passkey: TypedPasskey, challengeCookie: string | null, client: Client) {
  return verifyPasskey(app, passkey, challengeCookie, client).catch((error: unknown) => {
    if (isAppError(error) && error.code === 'UNAUTHENTICATED') return null;
    throw error;
  });
}

type Answer = {
  codes: TypedCodes;
  /** Undefined where a code answers; null for a passkey that was refused. */
  passkey: VerifiedPasskey | null | undefined;
  trusts: boolean;
  stepToken: string | null;
  client: Client;
};

/** Resolves to null after a wrong answer, which is committed. */
async function answerStep(app: App, { codes, passkey, trusts, stepToken, client }: Answer): Promise<Begun | null> {
  const browser = await tokenForBrowser(app, client.knownBrowser ?? null);
  return app.db.transaction(async (tx) => {
    const { attempt, organisationId } = await lockStep(app, tx, stepToken);
    const { userId } = attempt;
    if (passkey === undefined && !hasCode(codes)) throw invalid({ totp: message('enter_code') });
    const right =
      passkey === undefined
        ? await takeCode(app, tx, { userId, codes, browserHash: attempt.browserHash, client })
        : passkey?.userId === userId && (await takePasskey(app, tx, passkey, client));
    if (!right) {
      await countWrongAnswer(app, tx, attempt);
      return null;
    }

    await endStep(app, tx, attempt.idHash);
    await proveIdentity(app, tx, attempt, client);
    const proof = {
      userId,
      organisationId,
      passwordHash: null,
      idpSubject: attempt.idpSubject,
    };
    const account = await lockUnchangedAccount(tx, proof);
    const start = { userId, organisationId: account.organisationId, idpSubject: attempt.idpSubject, client };
    const token = await insertSession(app, tx, {
      ...start,
      fresh: true,
      freshByFactor: true,
      browserHash: browser.hash,
    });
    // An operator's factor is asked for each time.
    if (!trusts || account.operator) return { token, browserToken: browser.token };
    return { token, browserToken: await trustBrowser(app, tx, { userId, browserHash: browser.hash }) };
  });
}

/**
 * Locks the user of an attempt, and reads it under the lock, with the organisation that a session would act for: the one
 * of the first step may have been suspended since.
 *
 * @throws AppError UNAUTHENTICATED if there is no attempt, or it has ended; FORBIDDEN if the account is closed.
 */
async function lockStep(app: App, tx: Transaction, stepToken: string | null) {
  const ended = new AppError('UNAUTHENTICATED', message('sign_in_again'));
  const found = stepToken === null ? null : await readStep(app, tx, stepToken);
  if (found === null || stepToken === null || !(await lockUser(tx, found.userId))) throw ended;
  const account = await accountById(tx, found.userId);
  if (account?.accountStatus === 'closed') throw new AppError('FORBIDDEN', message('account_closed'));
  const attempt = await readStep(app, tx, stepToken);
  if (attempt === null || attempt.endedAt !== null) throw ended;
  return { attempt, organisationId: account?.organisationId ?? null };
}

/** Links the identity that waited for the step. One that is linked already counts as a factor from now on. */
async function proveIdentity(app: App, tx: Transaction, attempt: StepAttempt, client: Client): Promise<void> {
  const { userId, organisationId, linking, idpSubject } = attempt;
  if (linking !== null) {
    // The subject, or the account, may have got another one meanwhile.
    const taken = (await findIdentity(tx, linking)) ?? (await identitiesOf(tx, userId))[0];
    if (taken !== undefined) throw new AppError('UNAUTHENTICATED', message('sign_in_again'));
    await linkIdentity(tx, app.now(), { ...linking, userId });
    await endSignUps(tx, userId, app.now());
    await recordAudit(tx, app.now(), { action: 'identity-linked', userId, organisationId, client });
  }
  if (idpSubject === null) return;
  const isTheirs = and(eq(identities.userId, userId), eq(identities.subject, idpSubject));
  await tx.update(identities).set({ countsAsFactor: true }).where(isTheirs);
}

/** Returns what the page of the second step shows; null without an attempt that goes on. */
export async function readSecondStep(app: App, stepToken: string | null) {
  const attempt = stepToken === null ? null : await readStep(app, app.db, stepToken);
  if (attempt === null || attempt.endedAt !== null) return null;
  const account = await accountById(app.db, attempt.userId);
  return {
    methods: await usableMethods(app, app.db, attempt.userId),
    /** Whether the browser may be trusted. */
    may_trust: account?.user.operator === false,
  };
}
