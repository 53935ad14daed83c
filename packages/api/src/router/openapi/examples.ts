/** A request and its answer, as the document shows them. A test holds each against its schema. */
type Example = { path?: Record<string, string>; query?: Record<string, string>; body?: object; answer: object };

const id = '019b2f60-7c1e-7d43-9a51-3f0c2b7e9d10';
const userId = '019b2f60-7c1e-7d43-9a51-3f0c2b7e9d11';
const done = { ok: true };
const organisation = { id, slug: 'larch-sons', name: 'Larch & Sons' };
const user = { id: userId, email: 'mia@larch.example', name: 'Mia Larch' };
const resets = '2027-01-01T00:00:00.000Z';
const calls = { meter: 'api_calls', name: 'API calls', used: 812, limit: 50_000, resets_at: resets };
const projects = { meter: 'projects', name: 'Projects', used: 7, limit: 10, resets_at: null };
const features = { sso: false, audit_log: true };
const record = { tier: 'silver', status: 'active', current_period_end: resets };
const reserved = { organisation: 'larch-sons', meter: 'projects', amount: 1, idempotency_key: 'project-17' };
const silver = {
  tier: 'silver',
  name: 'Silver',
  price: { amount: 2400, currency: 'gbp', interval: 'month' },
  price_source: 'provider',
  limits: { api_calls: 50_000, projects: 10, members: null },
  features,
};
const managed = { ...user, status: 'active', verified: true, created_at: '2026-12-01T12:00:00.000Z' };
const row = { ...organisation, approval: 'approved', tier: 'silver' };
const nextWeek = '2026-12-08T12:00:00.000Z';
const agreed = {
  tier: 'gold',
  limits: { api_calls: 200_000 },
  features: {},
  grace_days: null,
  reason: 'By contract.',
  until: '2027-02-01T00:00:00.000Z',
};

const assertion = {
  id: 'Zm9yIGV4YW1wbGU',
  rawId: 'Zm9yIGV4YW1wbGU',
  type: 'public-key',
  response: {
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4',
    signature: 'MEUCIQDKg8',
    userHandle: 'aGFuZGxl',
  },
  clientExtensionResults: {},
};
const attestation = {
  ...assertion,
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
};

/** The example of each operation, by its id. */
export const examples: Record<string, Example> = {
  'accounts.signUp': {
    body: { email: user.email, password: 'four words in a row', org_name: organisation.name },
    answer: { pending: true, email: user.email },
  },
  'accounts.resend': { body: { email: user.email }, answer: done },
  'signIn.withPassword': { body: { email: user.email, password: 'four words in a row' }, answer: done },
  'signIn.again': { body: { password: 'four words in a row' }, answer: done },
  'signIn.secondStep': { body: { totp: '492039', trust: true }, answer: done },
  'signIn.passkeyOptions': {
    body: {},
    answer: {
      challenge: 'bG9uZyBhbmQgcmFuZG9t',
      rpId: 'id.example.com',
      userVerification: 'required',
      timeout: 60_000,
    },
  },
  'signIn.withPasskey': { body: { passkey: assertion }, answer: done },
  'factors.list': {
    answer: {
      passkeys: [{ id, name: 'Work laptop', created_at: resets, last_used_at: null, refused: false }],
      totp: true,
      recovery_codes_left: 9,
    },
  },
  'factors.totp': {
    body: {},
    answer: { secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/Larch:mia%40larch.example?secret=JBSWY3DPEHPK3PXP' },
  },
  'factors.confirmTotp': { body: { totp: '492039' }, answer: { recovery_codes: ['MFRGGZDFMZTWQ2LK'] } },
  'factors.passkeyOptions': {
    body: {},
    answer: { challenge: 'bG9uZyBhbmQgcmFuZG9t', rp: { id: 'id.example.com', name: 'Larch' } },
  },
  'factors.addPasskey': { body: { name: 'Work laptop', passkey: attestation }, answer: { id } },
  'factors.recoveryCodes': { body: {}, answer: { recovery_codes: ['MFRGGZDFMZTWQ2LK'] } },
  'factors.remove': { body: { id: 'totp' }, answer: done },
  'signIn.out': { body: {}, answer: done },
  'sessions.verify': {
    answer: { user, organisation: { ...organisation, tier: 'silver' }, role: 'member', scopes: ['READ', 'WRITE'] },
  },
  'subscription.read': {
    answer: {
      organisation,
      plan: {
        name: 'Silver',
        ...record,
        cancel_at_period_end: false,
        ends_at: null,
        price: { amount: 2400, currency: 'gbp', interval: 'month', quantity: 1 },
      },
      usage: [calls, projects],
      features,
      tiers: [silver],
      billing_enabled: true,
    },
  },
  'billing.checkout': { body: { tier: 'silver' }, answer: { url: 'https://checkout.provider.example/c/1' } },
  'billing.currency': { body: { currency: 'eur' }, answer: { currency: 'eur' } },
  'billing.portal': { body: {}, answer: { url: 'https://portal.provider.example/p/1' } },
  'billing.cancel': { body: {}, answer: { ...record, cancel_at_period_end: true, ends_at: resets } },
  'billing.resume': { body: {}, answer: { ...record, cancel_at_period_end: false, ends_at: null } },
  'webhooks.payment': {
    body: { id: 'evt_1', type: 'customer.subscription.updated' },
    answer: { received: true, handled: true },
  },
  'entitlements.get': {
    path: { id: 'larch-sons' },
    answer: {
      organisation: { ...organisation, approval: 'approved' },
      plan: { tier: 'silver', name: 'Silver', status: 'active', ends_at: null },
      features,
      usage: [calls, projects],
    },
  },
  'entitlements.check': {
    path: { id: 'larch-sons', name: 'api_calls' },
    answer: {
      name: 'api_calls',
      allowed: true,
      used: 812,
      limit: 50_000,
      resets_at: resets,
      allowed_by: ['silver', 'gold'],
    },
  },
  'usage.reserve': { body: reserved, answer: { meter: 'projects', used: 8, limit: 10, resets_at: null } },
  'usage.commit': {
    body: { hold: '019ad6d2-5c00-7b1e-8f0a-2f6f1d0c9a11' },
    answer: { meter: 'projects', used: 8, limit: 10, resets_at: null },
  },
  'usage.release': {
    body: { ...reserved, idempotency_key: 'project-17 deleted' },
    answer: { meter: 'projects', used: 7, limit: 10, resets_at: null },
  },
  'usage.report': {
    body: { records: [{ organisation: 'larch-sons', meter: 'api_calls', amount: 25, idempotency_key: 'minute-4711' }] },
    answer: { accepted: 1, duplicates: 0 },
  },
  'usage.set': {
    path: { meter: 'projects' },
    body: { organisation: 'larch-sons', used: 7, at: '2026-12-01T12:00:00.000Z' },
    answer: { meter: 'projects', used: 7, limit: 10 },
  },
  'usage.read': {
    path: { meter: 'api_calls' },
    query: { organisation: 'larch-sons', days: '2' },
    answer: {
      meter: 'api_calls',
      days: [
        { date: '2026-11-30', used: 0 },
        { date: '2026-12-01', used: 812 },
      ],
    },
  },
  'organisations.list': {
    answer: { organisations: [{ ...organisation, approval: 'approved', tier: 'silver' }], next: null },
  },
  'members.list': { path: { id: 'larch-sons' }, answer: { members: [{ user, role: 'owner' }], next: null } },
  'management.users': { query: { email: user.email }, answer: { users: [managed], next: null } },
  'management.createUser': {
    body: { email: user.email, name: user.name, verified: true, organisation: { name: organisation.name } },
    answer: { ...managed, status: 'awaiting_approval' },
  },
  'management.user': {
    path: { id: userId },
    answer: { ...managed, organisations: [{ ...organisation, role: 'owner' }], identity: null },
  },
  'management.deleteUser': { path: { id: userId }, body: {}, answer: done },
  'management.suspendUser': { path: { id: userId }, body: {}, answer: { ...managed, status: 'suspended' } },
  'management.restoreUser': { path: { id: userId }, body: {}, answer: managed },
  'management.endSessions': { path: { id: userId }, body: {}, answer: managed },
  'management.passwordLink': {
    path: { id: userId },
    body: {},
    answer: { url: 'https://id.example.com/password?token=TOKEN', expires_at: '2026-12-01T13:00:00.000Z' },
  },
  'management.createOrganisation': {
    body: { name: organisation.name, owner: userId },
    answer: { ...organisation, approval: 'pending', tier: 'free' },
  },
  'management.organisation': { path: { id: 'larch-sons' }, answer: row },
  'management.renameOrganisation': { path: { id: 'larch-sons' }, body: { name: organisation.name }, answer: row },
  'management.deleteOrganisation': { path: { id: 'larch-sons' }, body: {}, answer: done },
  'management.approveOrganisation': { path: { id: 'larch-sons' }, body: {}, answer: row },
  'management.declineOrganisation': {
    path: { id: 'larch-sons' },
    body: { reason: 'Not a customer.' },
    answer: { ...row, approval: 'declined' },
  },
  'management.suspendOrganisation': { path: { id: 'larch-sons' }, body: {}, answer: { ...row, approval: 'suspended' } },
  'management.restoreOrganisation': { path: { id: 'larch-sons' }, body: {}, answer: row },
  'management.addMember': {
    path: { id: 'larch-sons' },
    body: { user: userId, role: 'admin' },
    answer: { user: userId, role: 'admin' },
  },
  'management.changeMember': {
    path: { id: 'larch-sons', user: userId },
    body: { role: 'viewer' },
    answer: { user: userId, role: 'viewer' },
  },
  'management.removeMember': { path: { id: 'larch-sons', user: userId }, body: {}, answer: done },
  'management.invitations': {
    path: { id: 'larch-sons' },
    answer: {
      invitations: [
        { id, email: user.email, role: 'member', created_at: '2026-12-01T12:00:00.000Z', expires_at: nextWeek },
      ],
      next: null,
    },
  },
  'management.invite': {
    path: { id: 'larch-sons' },
    body: { email: user.email, role: 'member' },
    answer: { id, url: 'https://id.example.com/invitation?token=TOKEN', expires_at: nextWeek },
  },
  'management.deleteInvitation': { path: { id: 'larch-sons', invitation: id }, body: {}, answer: done },
  'management.override': { path: { id: 'larch-sons' }, answer: agreed },
  'management.setOverride': {
    path: { id: 'larch-sons' },
    body: { tier: 'gold', limits: { api_calls: 200_000 }, reason: 'By contract.', until: '2027-01-31' },
    answer: agreed,
  },
  'management.endOverride': { path: { id: 'larch-sons' }, body: {}, answer: done },
  'changes.since': {
    query: { after: '0', wait: '30' },
    answer: {
      changes: [
        {
          cursor: 'b1c9',
          at: '2026-12-01T12:00:00.000Z',
          type: 'plan.changed',
          organisation: id,
          user: null,
          data: { tier: 'silver', status: 'active', ends_at: null, limits: silver.limits, features },
        },
      ],
      next: 'b1c9',
    },
  },
  'tokens.issue': {
    body: { audience: 'https://app.example.com' },
    answer: { token: 'HEADER.CLAIMS.SIGNATURE', expires_at: '2026-12-01T12:05:00.000Z' },
  },
  'tokens.keySet': {
    answer: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'PUBLIC_KEY', kid: id, alg: 'EdDSA', use: 'sig' }] },
  },
  'service.openapi': { answer: { openapi: '3.1.0' } },
};
