/**
 * What the serving process, and the one of packages/testing, use of this package. The build makes one module of it,
 * dist/bundle.js, with all libraries inside; the builds of apps/server, apps/web and packages/testing import that, so that
 * a process has one copy of everything here. A module that one of them imports and that is missing here fails their build
 * (external-bundle.ts).
 */
export * from './auth/sessions/session.ts';
export * from './auth/sign-in/attempt.ts';
export * from './auth/sign-in/return-url.ts';
export * from './auth/sign-up/sign-up.ts';
export * from './auth/verification/verify-email.ts';
export * from './billing/actions/set-up-billing.ts';
export * from './create-app.ts';
export * from './http/answer-endpoint.ts';
export * from './http/choose-language.ts';
export * from './http/cookies.ts';
export * from './http/error-response.ts';
export * from './http/observe-request.ts';
export * from './http/open-request.ts';
export * from './http/read-body.ts';
export * from './http/request-guard.ts';
export * from './http/security-headers.ts';
export * from './members/keys/store-key.ts';
export * from './operators/actor.ts';
export * from './operators/find-accounts.ts';
export * from './operators/keys.ts';
export * from './operators/queue/decide.ts';
export * from './platform/config.ts';
export * from './platform/config-version.ts';
export * from './platform/durations.ts';
export * from './platform/errors.ts';
export * from './platform/log.ts';
export * from './platform/messages.ts';
export * from './platform/providers/minor-units.ts';
export * from './platform/security/client.ts';
export * from './router/root.ts';
