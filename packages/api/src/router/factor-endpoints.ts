import { z } from 'zod';
import { confirmTotpInput, removeFactorInput } from '../auth/factors/manage-factors.ts';
import { addPasskeyInput } from '../auth/factors/passkeys.ts';
import { secondStepInput } from '../auth/sign-in/second-step.ts';
import { passkeySignInInput } from '../auth/sign-in/with-passkey.ts';
import type { Endpoint } from './endpoint.ts';

/** What every change of a user's factors needs. */
const change = {
  method: 'post',
  tag: 'Accounts',
  access: ['session'],
  errors: ['FRESH_SIGN_IN_REQUIRED'],
} satisfies Partial<Endpoint>;

export const factorEndpoints: Endpoint[] = [
  {
    method: 'post',
    path: '/api/login/second-step',
    id: 'signIn.secondStep',
    tag: 'Accounts',
    summary: 'Finish a sign-in with a second factor',
    description:
      'In the browser whose sign-in answered SECOND_FACTOR_REQUIRED, within ten minutes. With `trust` this browser is not asked again for 30 days.',
    access: ['public'],
    body: secondStepInput,
    answer: 'Done',
    answerHeaders: { 'Set-Cookie': 'The session cookie.' },
    errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/login/passkey/options',
    id: 'signIn.passkeyOptions',
    tag: 'Accounts',
    summary: 'Read the options for a passkey',
    description:
      'For `navigator.credentials.get`: to sign in, for the second step, or to confirm the user of a session. Valid five minutes, in this browser.',
    access: ['public'],
    body: z.object({}),
    answer: 'PasskeyOptions',
    answerHeaders: { 'Set-Cookie': 'The cookie to which the challenge is bound.' },
    errors: ['TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/login/passkey',
    id: 'signIn.withPasskey',
    tag: 'Accounts',
    summary: 'Sign in with a passkey alone',
    access: ['public'],
    body: passkeySignInInput,
    answer: 'Done',
    answerHeaders: { 'Set-Cookie': 'The session cookie.' },
    errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY'],
  },
  {
    method: 'get',
    path: '/api/factors',
    id: 'factors.list',
    tag: 'Accounts',
    summary: "Read the user's second factors",
    access: ['session'],
    answer: 'Factors',
    errors: [],
  },
  {
    ...change,
    path: '/api/factors/totp',
    id: 'factors.totp',
    summary: 'Begin to set up an authenticator app',
    description: 'The one that the user has stays until the new one is confirmed.',
    body: z.object({}),
    answer: 'TotpSetup',
    errors: [...change.errors, 'CONFLICT'],
  },
  {
    ...change,
    path: '/api/factors/totp/confirm',
    id: 'factors.confirmTotp',
    summary: 'Confirm the authenticator app by its first code',
    description: 'The first factor gives ten recovery codes, and ends the user’s other sessions.',
    body: confirmTotpInput,
    answer: 'FactorAdded',
    errors: [...change.errors, 'TOO_MANY'],
  },
  {
    ...change,
    path: '/api/factors/passkey/options',
    id: 'factors.passkeyOptions',
    summary: 'Read the options for a new passkey',
    description: 'For `navigator.credentials.create`. A user has at most 20 passkeys.',
    body: z.object({}),
    answer: 'PasskeyOptions',
    errors: [...change.errors, 'CONFLICT', 'TOO_MANY'],
  },
  {
    ...change,
    path: '/api/factors/passkey',
    id: 'factors.addPasskey',
    summary: 'Add a passkey',
    description: 'The first factor gives ten recovery codes, and ends the user’s other sessions.',
    body: addPasskeyInput,
    answer: 'PasskeyAdded',
    errors: [...change.errors, 'CONFLICT'],
  },
  {
    ...change,
    path: '/api/factors/recovery-codes',
    id: 'factors.recoveryCodes',
    summary: 'Make ten recovery codes in place of the earlier ones',
    body: z.object({}),
    answer: 'RecoveryCodes',
    errors: [...change.errors, 'CONFLICT'],
  },
  {
    ...change,
    path: '/api/factors/remove',
    id: 'factors.remove',
    summary: 'Remove an authenticator app ("totp") or a passkey',
    description:
      'With the last factor the recovery codes go. CONFLICT for the last one of a user who must have a second factor.',
    body: removeFactorInput,
    answer: 'Done',
    errors: [...change.errors, 'NOT_FOUND', 'CONFLICT'],
  },
];
