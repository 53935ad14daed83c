/**
 * Returns a sentence for each probable mistake in the environment: a feature of which one of
 * two variables is set, and a name that resembles a known variable.
 */
export function configWarnings(environment: Record<string, string | undefined>, known: string[]): string[] {
  const names = Object.keys(environment).filter((name) => environment[name]?.trim());
  return [...incompletePairs(new Set(names)), ...misspelledNames(names, known)];
}

/** Whether a variable names the price of a tier: PAYMENT_PRICE_GOLD. The plans decide which tiers there are. */
export function isPriceVariable(name: string): boolean {
  return /^PAYMENT_PRICE_[A-Z][A-Z0-9_]*$/.test(name);
}

type Secrets = { publicBaseUrl: string | null; secretKeys: string[]; issuesTokens: boolean };

/** Returns a sentence for each probable mistake in the settings of tokens and of what is encrypted. */
export function secretWarnings({ publicBaseUrl, secretKeys, issuesTokens }: Secrets): string[] {
  const warnings: string[] = [];
  if (issuesTokens && publicBaseUrl === null) {
    warnings.push('TOKEN_TTL_SECONDS is set and PUBLIC_BASE_URL is not: no tokens are issued.');
  }
  // On loopback only developers have the database.
  if (secretKeys.length === 0 && publicBaseUrl?.startsWith('https:')) {
    warnings.push(
      'SECRET_KEY is unset: authenticator apps are not offered, and keys in the database are not encrypted.',
    );
  }
  return warnings;
}

function incompletePairs(set: Set<string>): string[] {
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

function misspelledNames(names: string[], known: string[]): string[] {
  return names.flatMap((name) => {
    if (known.includes(name) || isPriceVariable(name)) return [];
    const intended = known.find((each) => isMisspelling(name.toUpperCase(), each)) ?? priceVariableLike(name);
    return intended === undefined
      ? []
      : [`${name} is not a variable of Gatehouse and is ignored. Perhaps it is ${intended}.`];
  });
}

/** The price variable whose first two words are misspelt in the name, or which is not in capitals. */
function priceVariableLike(name: string): string | undefined {
  const [, words = '', tier] = /^([^_]+_[^_]+)_(\w+)$/.exec(name.toUpperCase()) ?? [];
  return isMisspelling(words, 'PAYMENT_PRICE') ? `PAYMENT_PRICE_${tier}` : undefined;
}

function isMisspelling(name: string, known: string): boolean {
  const most = maximumDistance(known);
  return Math.abs(name.length - known.length) <= most && editDistance(name, known) <= most;
}

/** The edit distance up to which a name counts as a misspelling. Short names resemble many others. */
function maximumDistance({ length }: string): number {
  if (length < 6) return 0;
  if (length < 10) return 1;
  return length < 14 ? 2 : 3;
}

/** The number of letters to insert, remove, replace or swap with the next one (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= other.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1);
      const isSwap = row > 0 && letter === other[column - 2] && one[row - 1] === other[column - 1];
      const swap = isSwap ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(substitution, swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
