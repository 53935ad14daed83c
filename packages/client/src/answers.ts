/** One of the deployment's tiers by its identifier: 'free', 'silver' and 'gold', or those of its PLANS_FILE. */
export type Tier = string;

/** The signed-in user, the organisation of the session, and the user's role and scopes there. */
export type Session = {
  user: { id: string; email: string; name: string | null };
  organisation: { id: string; slug: string; name: string | null; tier: Tier } | null;
  role: 'owner' | 'admin' | 'member' | 'viewer' | null;
  scopes: ('READ' | 'WRITE' | 'ADMIN')[];
};

/** An organisation's plan, its limits and features, and its usage. Times are in ISO 8601. */
export type Subscription = {
  organisation: { id: string; slug: string; name: string | null };
  plan: {
    /** The tier that the organisation is entitled to. */
    tier: Tier;
    name: string;
    /** The subscription's status; 'none' without a subscription. */
    status: string;
    cancel_at_period_end: boolean;
    current_period_end: string | null;
    ends_at: string | null;
    /** What all items of the subscription cost per interval, before tax and discounts; null without a subscription. */
    price: (Price & { quantity: number }) | null;
  };
  usage: Usage[];
  features: Record<string, boolean>;
  tiers: {
    tier: Tier;
    name: string;
    /** In the payment provider's minor units; null if the tier is free. */
    price: Price | null;
    /** 'declared' while the payment provider's own price is not known. */
    price_source: 'provider' | 'declared';
    /** All prices, where the tier has several. */
    prices?: (Price & { price_source: 'provider' | 'declared' })[];
    limits: Record<string, number | null>;
    features: Record<string, boolean>;
  }[];
  billing_enabled: boolean;
};

export type Price = { amount: number; currency: string; interval: 'day' | 'week' | 'month' | 'year' };

export type Usage = {
  meter: string;
  name: string;
  used: number;
  /** Null if there is no limit. */
  limit: number | null;
  resets_at: string | null;
};

export type Approval = 'approved' | 'pending' | 'declined' | 'suspended';

/** The limits and features of an organisation's plan, and its usage. */
export type Entitlements = {
  organisation: { id: string; slug: string; name: string | null; approval: Approval };
  plan: Pick<Subscription['plan'], 'tier' | 'name' | 'status' | 'ends_at'>;
  features: Record<string, boolean>;
  usage: Usage[];
};

/** As Gatehouse answers whether an organisation may use a feature, or one more of a meter. */
export type Entitlement = {
  name: string;
  allowed: boolean;
  used?: number;
  limit?: number | null;
  resets_at?: string | null;
  /** The tiers that allow it, in rising rank. */
  allowed_by: Tier[];
};

/** Whether an organisation may use a feature, or one more of a meter. */
export type CheckedEntitlement = Omit<Entitlement, 'allowed_by'> & {
  /** The tiers that allow it, in rising rank; null if the answer comes from all entitlements, which do not name them: then it is allowed. */
  allowed_by: Tier[] | null;
};

/** How many records of a report were counted, and how many had been before. */
export type UsageReport = { accepted: number; duplicates: number };

/** A gauge after it was set. */
export type Gauge = {
  meter: string;
  used: number;
  limit: number | null;
  /**
   * Present only if the value changed nothing, because its time `at` is before the last change. If that happens to present
   * values, the clock that `at` comes from is slow.
   */
  superseded?: true;
};

/** A meter by day in UTC, the oldest first. Of a gauge the value at the day's end. */
export type UsageHistory = { meter: string; days: { date: string; used: number }[] };

/** A signed token about a session or an API key, and when it expires. */
export type Token = { token: string; expires_at: string };

/** The claims of a verified token. A role or scope that was revoked after `iat` stays in it until `exp`. */
export type TokenClaims = {
  iss: string;
  aud: string;
  /** The id of the user, or of the API key. */
  sub: string;
  kind: 'user' | 'key';
  /** The organisation's id; null for a key of the deployment. */
  organisation: string | null;
  role: Session['role'];
  scopes: Session['scopes'];
  tier: Tier | null;
  /** In seconds since 1970. */
  iat: number;
  exp: number;
  jti: string;
};

/** A meter after a request: its usage, and the plan's limit. */
export type UsageAnswer = { meter: string; used: number; limit: number | null; resets_at: string | null };

/** A reservation that expires, and the hold that is committed or released. */
export type HeldUsage = UsageAnswer & { hold: string };

export type ChangeType =
  | 'organisation.created'
  | 'organisation.approved'
  | 'organisation.declined'
  | 'organisation.suspended'
  | 'organisation.restored'
  | 'organisation.renamed'
  | 'organisation.deleted'
  | 'plan.changed'
  | 'user.renamed'
  | 'member.joined'
  | 'member.left'
  | 'member.role_changed'
  | 'user.email_changed'
  | 'user.suspended'
  | 'user.restored'
  | 'user.deleted';

export type Change = {
  cursor: string;
  at: string;
  /** Later versions may add types: leave out what you do not know. */
  type: ChangeType;
  organisation: string | null;
  user: string | null;
  /**
   * What the change tells: `plan.changed`, for example, has tier, status, ends_at, limits and features. The new address of
   * `user.email_changed` and the new name of `user.renamed` are null once the account is erased.
   */
  data: Record<string, unknown>;
};

export type Member = {
  user: { id: string; email: string; name: string | null };
  role: 'owner' | 'admin' | 'member' | 'viewer';
};

export type ListedOrganisation = {
  id: string;
  slug: string;
  name: string | null;
  approval: Approval;
  tier: Tier;
};

/** A user, as an API key with the scope MANAGE sees one. */
export type User = {
  id: string;
  email: string;
  name: string | null;
  /** Their own, else that of the best of their organisations; active without one. */
  status: 'suspended' | 'unverified' | 'active' | 'awaiting_approval' | 'declined';
  verified: boolean;
  created_at: string;
};

/** A user with their organisations and the identity by which they sign in, if there is one. */
export type UserInDetail = User & {
  organisations: { id: string; slug: string; name: string | null; role: 'owner' | 'admin' | 'member' | 'viewer' }[];
  identity: { issuer: string; subject: string } | null;
};

/** A link that sets a user's password once. Your product hands it over. */
export type PasswordLink = { url: string; expires_at: string };

export type Membership = { user: string; role: 'owner' | 'admin' | 'member' | 'viewer' };

/** An unused invitation. `email` is a note about whom its link is for. */
export type Invitation = {
  id: string;
  email: string | null;
  role: 'admin' | 'member' | 'viewer';
  created_at: string;
  expires_at: string;
};

/** A new invitation with its link, which is shown once. */
export type NewInvitation = { id: string; url: string; expires_at: string };

/** What was agreed with an organisation beside its subscriptions. A limit of null is unlimited. */
export type Override = {
  tier: Tier | null;
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
  grace_days: number | null;
  reason: string;
  until: string | null;
};
