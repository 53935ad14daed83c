import { z } from 'zod';
import { changeTypes } from '../../changes/record-change.ts';
import { type ErrorCode, errorCodes } from '../../platform/errors.ts';

const time = z.iso.datetime().describe('A time in ISO 8601, UTC.');
const tier = z.string().describe('The identifier of a tier: free, silver, gold, or those of PLANS_FILE.');
const role = z.enum(['owner', 'admin', 'member', 'viewer']);
const scopes = z.array(z.enum(['READ', 'WRITE', 'ADMIN']));
const flags = z.record(z.string(), z.boolean());
const limit = z.int().nonnegative().nullable().describe('Null if there is no limit.');

const approval = z.enum(['approved', 'pending', 'declined', 'suspended']);
const nextPage = z.string().nullable().describe('`after` of the next page; null at the end.');
const organisation = z.object({ id: z.uuid(), slug: z.string(), name: z.string().nullable() });

const price = z.object({
  amount: z.int().nonnegative().describe('In minor units of the currency.'),
  currency: z.string(),
  interval: z.enum(['day', 'week', 'month', 'year']),
});

const priceSource = z.enum(['provider', 'declared']);

const reading = z.object({
  meter: z.string(),
  name: z.string(),
  used: z.int().nonnegative(),
  limit,
  resets_at: time.nullable().describe('When a counter starts at zero again; null for a gauge.'),
});

/** The body of every error. What a program finds beside `error` and `code` depends on the code. */
export const error = z.object({
  error: z.string().describe('A sentence for people.'),
  code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
  fields: z.record(z.string(), z.string()).optional().describe('A sentence for each invalid field.'),
  methods: z
    .array(z.enum(['passkey', 'totp', 'recovery_code']))
    .optional()
    .describe('Of SECOND_FACTOR_REQUIRED: the ways that the user can use; may be empty.'),
  meter: z.string().optional().describe('Of LIMIT_REACHED, as the next three.'),
  used: z.int().optional(),
  limit: z.int().optional(),
  allowed_by: z.array(tier).optional().describe('The tiers that allow it, in rising rank.'),
  id: z.string().optional().describe('Of CONFLICT where an address is taken: the id of its user.'),
  oldest: z.string().optional().describe('Of GONE: the oldest cursor.'),
});

const user = z.object({
  id: z.uuid(),
  email: z.string(),
  name: z.string().nullable(),
  status: z
    .enum(['suspended', 'unverified', 'active', 'awaiting_approval', 'declined'])
    .describe('Their own, else that of the best of their organisations; active without one.'),
  verified: z.boolean(),
  created_at: time,
});

/** The answers of the endpoints, by the name of each in the document. */
const usage = z.object({ meter: z.string(), used: z.int().nonnegative(), limit, resets_at: time.nullable() });

export const answers = {
  Done: z.object({ ok: z.literal(true) }),
  Factors: z.object({
    passkeys: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        created_at: time,
        last_used_at: time.nullable(),
        refused: z.boolean(),
      }),
    ),
    totp: z.boolean(),
    recovery_codes_left: z.int().nonnegative(),
  }),
  TotpSetup: z.object({
    secret: z.string().describe('In base32.'),
    uri: z.string().describe('The URI of the QR code.'),
  }),
  FactorAdded: z.object({
    recovery_codes: z.array(z.string()).optional().describe('Ten codes, with the first factor. They are shown once.'),
  }),
  PasskeyOptions: z
    .record(z.string(), z.unknown())
    .describe('PublicKeyCredentialRequestOptionsJSON or PublicKeyCredentialCreationOptionsJSON of WebAuthn, Level 3.'),
  PasskeyAdded: z.object({ id: z.uuid(), recovery_codes: z.array(z.string()).optional() }),
  RecoveryCodes: z.object({ recovery_codes: z.array(z.string()) }),
  SignUp: z.object({ pending: z.literal(true), email: z.string() }),
  Address: z.object({ url: z.url() }),
  Session: z.object({
    user: z.object({ id: z.uuid(), email: z.string(), name: z.string().nullable() }),
    organisation: organisation.extend({ tier }).nullable(),
    role: role.nullable(),
    scopes,
  }),
  Subscription: z.object({
    organisation,
    plan: z.object({
      tier,
      name: z.string(),
      status: z.string().describe("The subscription's status; none without a subscription."),
      cancel_at_period_end: z.boolean(),
      current_period_end: time.nullable(),
      ends_at: time.nullable(),
      price: price
        .extend({ quantity: z.int() })
        .nullable()
        .describe('What all items of the subscription cost per interval; null without a subscription.'),
    }),
    usage: z.array(reading),
    features: flags,
    tiers: z.array(
      z.object({
        tier,
        name: z.string(),
        price: price.nullable(),
        price_source: priceSource,
        prices: z
          .array(price.extend({ price_source: priceSource }))
          .optional()
          .describe('All prices, where the tier has several.'),
        limits: z.record(z.string(), limit),
        features: flags,
      }),
    ),
    billing_enabled: z.boolean(),
  }),
  Currency: z.object({ currency: z.string() }),
  SubscriptionRecord: z.object({
    tier: tier.nullable(),
    status: z.string(),
    cancel_at_period_end: z.boolean(),
    current_period_end: time.nullable(),
    ends_at: time.nullable(),
  }),
  EventReceived: z.object({ received: z.literal(true), handled: z.boolean() }),
  Entitlements: z.object({
    organisation: organisation.extend({ approval }),
    plan: z.object({ tier, name: z.string(), status: z.string(), ends_at: time.nullable() }),
    features: flags,
    usage: z.array(reading),
  }),
  Entitlement: z.object({
    name: z.string(),
    allowed: z.boolean(),
    used: z.int().nonnegative().optional(),
    limit: limit.optional(),
    resets_at: time.nullable().optional(),
    allowed_by: z.array(tier).describe('The tiers that allow it, in rising rank.'),
  }),
  Usage: usage,
  Reserved: usage.extend({ hold: z.uuid().optional().describe('Present only if the reservation had an end.') }),
  Report: z.object({ accepted: z.int().nonnegative(), duplicates: z.int().nonnegative() }),
  Gauge: z.object({
    meter: z.string(),
    used: z.int().nonnegative(),
    limit,
    superseded: z
      .literal(true)
      .optional()
      .describe('Present only if the value changed nothing, because `at` is before the last change.'),
  }),
  UsageHistory: z.object({
    meter: z.string(),
    days: z.array(z.object({ date: z.iso.date(), used: z.int().nonnegative() })),
  }),
  Organisations: z.object({ organisations: z.array(organisation.extend({ approval, tier })), next: nextPage }),
  Organisation: organisation.extend({ approval, tier }),
  User: user,
  Users: z.object({ users: z.array(user), next: nextPage }),
  UserInDetail: user.extend({
    organisations: z.array(organisation.extend({ role })),
    identity: z
      .object({ issuer: z.string(), subject: z.string() })
      .nullable()
      .describe('The identity by which they sign in; null without one.'),
  }),
  PasswordLink: z.object({ url: z.string(), expires_at: time }),
  Membership: z.object({ user: z.string().describe("The user's id."), role }),
  Invitations: z.object({
    invitations: z.array(
      z.object({
        id: z.uuid(),
        email: z.string().nullable().describe('A note about whom the link is for.'),
        role: z.enum(['admin', 'member', 'viewer']),
        created_at: time,
        expires_at: time,
      }),
    ),
    next: nextPage,
  }),
  Invitation: z.object({
    id: z.uuid(),
    url: z.string().describe('The link, which is shown once.'),
    expires_at: time,
  }),
  Override: z.object({
    tier: tier.nullable(),
    limits: z.record(z.string(), limit),
    features: flags,
    grace_days: z.int().nonnegative().nullable(),
    reason: z.string(),
    until: time.nullable(),
  }),
  Members: z.object({
    members: z.array(
      z.object({ user: z.object({ id: z.uuid(), email: z.string(), name: z.string().nullable() }), role }),
    ),
    next: nextPage,
  }),
  Changes: z.object({
    changes: z.array(
      z.object({
        cursor: z.string(),
        at: time,
        type: z.enum(changeTypes),
        organisation: z.uuid().nullable(),
        user: z.uuid().nullable(),
        data: z
          .record(z.string(), z.unknown())
          .describe('What the change tells: of plan.changed tier, status, ends_at, limits and features.'),
      }),
    ),
    next: z.string().describe('The cursor to continue with.'),
  }),
  Token: z.object({
    token: z.string().describe('A JWT, signed with EdDSA. Its key is in /.well-known/jwks.json.'),
    expires_at: time,
  }),
  KeySet: z.object({
    keys: z.array(
      z.object({
        kty: z.string(),
        crv: z.string(),
        x: z.string(),
        kid: z.string(),
        alg: z.string(),
        use: z.string(),
      }),
    ),
  }),
  OpenApi: z.record(z.string(), z.unknown()).describe('This document.'),
};

export type AnswerName = keyof typeof answers;
