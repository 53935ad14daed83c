/** The plans of a deployment without a PLANS_FILE, in the shape of that file. */
export const defaultPlans = {
  meters: [
    { meter: 'members', name: 'Members', kind: 'gauge' },
    { meter: 'projects', name: 'Projects', kind: 'gauge' },
    { meter: 'api_calls', name: 'API calls', kind: 'counter' },
  ],
  tiers: [
    {
      tier: 'free',
      name: 'Free',
      price: null,
      limits: { members: 2, projects: 3, api_calls: 1000 },
      features: { audit_log: false },
    },
    {
      tier: 'silver',
      name: 'Silver',
      price: { amount: 2400, currency: 'gbp', interval: 'month' },
      limits: { members: 10, projects: 25, api_calls: 50_000 },
      features: { audit_log: true },
    },
    {
      tier: 'gold',
      name: 'Gold',
      price: { amount: 7900, currency: 'gbp', interval: 'month' },
      limits: { members: null, projects: 200, api_calls: 1_000_000 },
      features: { audit_log: true },
    },
  ],
};
