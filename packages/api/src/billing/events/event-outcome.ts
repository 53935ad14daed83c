/** What a stored event turned out to be. */
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
  /** An event of the mode that is not our key's; without a key, every event. */
  other_mode: { handled: false, flagged: false },
  not_ours: { handled: false, flagged: false },
  /** Its metadata name an organisation in our form that does not exist here. */
  unknown_organisation: { handled: false, flagged: true },
  /** Its organisation, customer and subscription contradict what is stored. */
  contradiction: { handled: false, flagged: true },
  unreadable: { handled: false, flagged: true },
};

export const eventOutcomes = Object.fromEntries(
  Object.entries(outcomeFlags).map(([outcome, flags]) => [outcome, { outcome, ...flags }]),
) as Record<EventOutcome['outcome'], EventOutcome>;

export const applied = eventOutcomes.applied;
