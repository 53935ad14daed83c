import { z } from 'zod';
import { passwordSignInInput } from '../../auth/sign-in/with-password.ts';
import { signUpInput } from '../../auth/sign-up/sign-up.ts';
import { resendInput } from '../../auth/verification/sending/resend-verification.ts';
import type { Operation } from './operation.ts';

export const accountOperations: Operation[] = [
  {
    method: 'post',
    path: '/api/signup',
    procedure: 'accounts.signUp',
    id: 'accounts.signUp',
    tag: 'Accounts',
    summary: 'Create an organisation and its owner',
    description:
      'Sends a verification link. Answers identically whether or not the address has an account, and starts no session.',
    access: ['public'],
    body: signUpInput,
    answer: 'SignUp',
    errors: ['TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/signup/resend',
    procedure: 'accounts.resend',
    id: 'accounts.resend',
    tag: 'Accounts',
    summary: 'Send a fresh verification link',
    description: 'Answers identically whether or not the address has an account that can receive one.',
    access: ['public'],
    body: resendInput,
    answer: 'Done',
    errors: ['TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/login',
    procedure: 'signIn.withPassword',
    id: 'signIn.withPassword',
    tag: 'Accounts',
    summary: 'Sign in with an address and a password',
    access: ['public'],
    body: passwordSignInInput,
    answer: 'Done',
    answerHeaders: { 'Set-Cookie': 'The session cookie.' },
    errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY'],
  },
  {
    method: 'post',
    path: '/api/logout',
    procedure: 'signIn.out',
    id: 'signIn.out',
    tag: 'Accounts',
    summary: 'End the session',
    access: ['public'],
    body: z.object({}),
    answer: 'Done',
    errors: [],
  },
  {
    method: 'get',
    path: '/api/session',
    procedure: 'sessions.verify',
    id: 'sessions.verify',
    tag: 'Accounts',
    summary: 'Read the signed-in user, the organisation, the role and the scopes',
    description: 'For reverse proxies and for services of the company: they forward the cookies of their own request.',
    access: ['session'],
    scope: 'READ',
    answer: 'Session',
    answerHeaders: {
      'X-Gatehouse-User': "The user's id.",
      'X-Gatehouse-Organisation': "The organisation's id.",
      'X-Gatehouse-Scopes': 'The scopes, separated by spaces.',
    },
    errors: [],
  },
];
