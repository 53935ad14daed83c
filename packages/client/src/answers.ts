/** One of the deployment's tiers by its identifier: 'free', 'silver' and 'gold', or those of its PLANS_FILE. */
export type Tier = string;

/** Who somebody is, for which organisation they act, and what they may do there. */
export type Session = {
  user: { id: string; email: string; name: string | null };
  organisation: { id: string; slug: string; name: string | null; tier: Tier } | null;
  role: 'owner' | 'admin' | 'member' | 'viewer' | null;
  scopes: ('READ' | 'WRITE' | 'ADMIN')[];
};

/** What an organisation's plan is and allows, and how much of it is used. Times are in ISO 8601. */
export type Subscription = {
  organisation: { id: string; slug: string; name: string | null };
  plan: {
    /** What the organisation is entitled to. */
    tier: Tier;
    name: string;
    /** The subscription's own status; 'none' without one. */
    status: string;
    cancel_at_period_end: boolean;
    current_period_end: string | null;
    ends_at: string | null;
  };
  usage: Usage[];
  features: Record<string, boolean>;
  tiers: {
    tier: Tier;
    name: string;
    /** In the payment provider's minor units; null for what costs nothing. */
    price: Price | null;
    /** 'declared' while the payment provider's own price is not known. */
    price_source: 'provider' | 'declared';
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
  /** Null where there is none. */
  limit: number | null;
  resets_at: string | null;
};
