import type { Price } from '#lib/format/money.ts';

/** The subscription summary as pages read it (GET /api/subscription answers the same). */
export interface Summary {
  plan: Plan;
  usage: Usage[];
  features: Record<string, boolean>;
  tiers: Tier[];
  billing_enabled: boolean;
}

export interface Plan {
  tier: string;
  name: string;
  status: string;
  cancel_at_period_end: boolean;
  current_period_end: string | null;
  ends_at: string | null;
  /** When the scheduled end came, while the provider has not confirmed it. Only the billing page reads it. */
  ended_unconfirmed_at?: string | null;
}

export interface Usage {
  meter: string;
  name: string;
  used: number;
  limit: number | null;
  resets_at: string | null;
}

export interface Tier {
  tier: string;
  name: string;
  price: Price | null;
  price_source: 'provider' | 'declared';
  limits: Record<string, number | null>;
  features: Record<string, boolean>;
}
