import { money } from '@gatehouse/payment-sandbox/pages/money';
import { describe, expect, it, test } from 'vitest';
import { formatAmount, minorDigits } from './minor-units.ts';

const withoutDecimals = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ');
const withThree = 'bhd jod kwd omr tnd'.split(' ');
/** Every other currency that the provider's documentation names for payments. */
const withTwo =
  `usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny cop
  crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr isk jmd kes kgs khr
  kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php
  pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah ugx uyu uzs wst
  xcd xcg yer zar zmw`.split(/\s+/);
const named = [...withoutDecimals, ...withThree, ...withTwo];

describe('the decimals of every currency that the provider names', () => {
  it.each([
    [0, withoutDecimals],
    [3, withThree],
    [2, withTwo],
  ])('are %i', (digits, currencies) => {
    expect(Object.fromEntries(currencies.map((code) => [code, minorDigits(code)]))).toEqual(
      Object.fromEntries(currencies.map((code) => [code, digits])),
    );
    expect(currencies.map((code) => minorDigits(code.toUpperCase()))).toEqual(currencies.map(() => digits));
  });

  test('are two for every further currency that Intl knows', () => {
    const further = Intl.supportedValuesOf('currency').filter((code) => !named.includes(code.toLowerCase()));
    expect(further.length).toBeGreaterThan(10);
    expect(new Set(further.map(minorDigits))).toEqual(new Set([2]));
  });
});

test.each([
  [2400, 'gbp', '£24.00'],
  [249_000, 'huf', 'HUF 2,490.00'],
  [15_000_000, 'idr', 'IDR 150,000.00'],
  [9_990_000, 'cop', 'COP 99,900.00'],
  [50_000, 'isk', 'ISK 500.00'],
  [500_000, 'ugx', 'UGX 5,000.00'],
  [3000, 'jpy', 'JP¥3,000'],
  [12_340, 'kwd', 'KWD 12.340'],
  [-2750, 'GBP', '-£27.50'],
  [2400, 'usdc', '24.00 USDC'],
])('%i of %s is %s', (amount, currency, words) => {
  expect(formatAmount({ amount, currency }).replaceAll('\u00a0', ' ')).toBe(words);
});

test.each(named)('the sandbox’s pages write %s as the product does', (currency) => {
  for (const amount of [0, 5, 100, 123_450, 10_000_000]) {
    expect(money(amount, currency)).toBe(formatAmount({ amount, currency }));
  }
});
