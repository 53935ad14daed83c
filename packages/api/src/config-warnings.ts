/**
 * What is probably a mistake in the environment, a sentence each: a feature that is half set,
 * and a name that is almost one of the variables.
 */
export function configWarnings(environment: Record<string, string | undefined>, known: string[]): string[] {
  const names = Object.keys(environment).filter((name) => environment[name]?.trim());
  return [...halfSet(new Set(names)), ...almostKnown(names, known)];
}

/** Whether a variable names the price of a tier: PAYMENT_PRICE_GOLD. Which tiers there are, the plans say. */
export function isPriceVariable(name: string): boolean {
  return /^PAYMENT_PRICE_[A-Z][A-Z0-9_]*$/.test(name);
}

function halfSet(set: Set<string>): string[] {
  const pairs: [one: string, other: string, effect: string][] = [
    ['IDP_CLIENT_ID', 'IDP_CLIENT_SECRET', 'sign-in through the identity provider is off'],
    ['IDP_CLIENT_SECRET', 'IDP_CLIENT_ID', 'sign-in through the identity provider is off'],
    ['PAYMENT_SECRET_KEY', 'PAYMENT_WEBHOOK_SECRET', "the payment provider's events are refused"],
    ['PAYMENT_WEBHOOK_SECRET', 'PAYMENT_SECRET_KEY', 'billing is off'],
  ];
  return pairs
    .filter(([one, other]) => set.has(one) && !set.has(other))
    .map(([one, other, effect]) => `${one} is set and ${other} is not: ${effect}.`);
}

function almostKnown(names: string[], known: string[]): string[] {
  return names.flatMap((name) => {
    if (known.includes(name) || isPriceVariable(name)) return [];
    const meant =
      known.find((each) => distance(name.toUpperCase(), each) <= mistakesIn(each)) ?? priceVariableLike(name);
    return meant === undefined
      ? []
      : [`${name} is not a variable of Gatehouse and is ignored. Perhaps it is ${meant}.`];
  });
}

/** The price variable whose first two words are misspelt in the name, or which is not in capitals. */
function priceVariableLike(name: string): string | undefined {
  const [, words = '', tier] = /^([^_]+_[^_]+)_(\w+)$/.exec(name.toUpperCase()) ?? [];
  return distance(words, 'PAYMENT_PRICE') <= mistakesIn('PAYMENT_PRICE') ? `PAYMENT_PRICE_${tier}` : undefined;
}

/** Short names are close to many others. */
function mistakesIn({ length }: string): number {
  if (length < 6) return 0;
  return length < 10 ? 1 : 2;
}

/** How many letters to insert, remove or replace (Levenshtein). */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
}
