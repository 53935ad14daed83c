/**
 * The number of decimals of the payment provider's amounts. They differ from ISO 4217 and Intl,
 * which have no decimals for huf, idr or cop where the provider uses hundredths. Source:
 * "Zero-decimal currencies", "Three-decimal currencies" and "Special cases" at
 * https://docs.stripe.com/currencies. isk and ugx are special cases: they have no decimals but are
 * sent in hundredths.
 */
const zeroDecimal = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
const threeDecimal = new Set('bhd jod kwd omr tnd'.split(' '));

/** Returns the number of decimals of an amount in this currency: 0, 2 or 3. */
export function minorDigits(currency: string): number {
  const code = currency.toLowerCase();
  if (zeroDecimal.has(code)) return 0;
  return threeDecimal.has(code) ? 3 : 2;
}

type Amount = {
  /** In the provider's minor units. */
  amount: number;
  currency: string;
};

/**
 * Formats an amount of the provider, such as "£24.00", by British English or another locale. A
 * currency that Intl does not know is written by its code.
 */
export function formatAmount(
  { amount, currency }: Amount,
  { locale = 'en-GB', ...options }: Intl.NumberFormatOptions & { locale?: string } = {},
): string {
  const digits = minorDigits(currency);
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const major = amount / 10 ** digits;
  if (!/^[a-z]{3}$/i.test(currency)) return `${formatOf(locale, fixed).format(major)} ${currency.toUpperCase()}`;
  return formatOf(locale, { style: 'currency', currency, ...fixed, ...options }).format(major);
}

/** The formats are cached, because creating one takes longer than rendering a plan. Only the currencies of prices occur. */
const formats = new Map<string, Intl.NumberFormat>();

function formatOf(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${locale} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(locale, options);
    formats.set(key, format);
  }
  return format;
}
