/** What the ledger keeps of an event's fate. */
export type EventOutcome = {
  /** Whether it changed or confirmed something of ours. */
  handled: boolean;
  outcome: keyof typeof outcomeFlags;
  /** Whether an operator should look at it. */
  flagged: boolean;
};

const outcomeFlags = {
  applied: { handled: true, flagged: false },
  noted: { handled: true, flagged: true },
  /** A type that we do not subscribe to. */
  ignored: { handled: false, flagged: false },
  /** Of the provider's other world than our key opens; without a key, every event. */
  other_mode: { handled: false, flagged: false },
  not_ours: { handled: false, flagged: false },
  /** It names an organisation as we do, but none that is here. */
  unknown_organisation: { handled: false, flagged: true },
  /** What it says of organisation, customer and subscription does not agree with what is stored. */
  contradiction: { handled: false, flagged: true },
  unreadable: { handled: false, flagged: true },
};

export const eventOutcomes = Object.fromEntries(
  Object.entries(outcomeFlags).map(([outcome, fate]) => [outcome, { outcome, ...fate }]),
) as Record<EventOutcome['outcome'], EventOutcome>;

export const applied = eventOutcomes.applied;
