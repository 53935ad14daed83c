import { base32 } from 'oslo/encoding';
import { generateHOTP } from 'oslo/otp';
import { describe, expect, it } from 'vitest';
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts';

/** The secret and the vectors of RFC 6238, appendix B, cut to six digits. */
const secret = base32.encode(new TextEncoder().encode('12345678901234567890'), { includePadding: false });

describe('a code', () => {
  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('at %d seconds is that of RFC 6238', async (seconds, code) => {
    const now = new Date(seconds * 1000);
    expect(await stepOfCode({ secret, lastStep: 0 }, code, now)).toBe(Math.floor(seconds / 30));
    expect(await stepOfCode({ secret, lastStep: 0 }, ` ${code.slice(0, 3)} ${code.slice(3)}`, now)).not.toBeNull();
  });

  it('counts one step before and after its own, and no further', async () => {
    const step = 50_000_000;
    const now = new Date(step * 30_000);
    const codes = [-2, -1, 0, 1, 2].map((drift) =>
      generateHOTP(base32.decode(secret, { strict: false }), step + drift),
    );
    const steps = await Promise.all(
      (await Promise.all(codes)).map((code) => stepOfCode({ secret, lastStep: 0 }, code, now)),
    );
    expect(steps).toEqual([null, step - 1, step, step + 1, null]);
  });

  it('counts only above the last step that was used', async () => {
    const now = new Date(59_000);
    expect(await stepOfCode({ secret, lastStep: 0 }, '287082', now)).toBe(1);
    expect(await stepOfCode({ secret, lastStep: 1 }, '287082', now)).toBeNull();
  });

  it.each(['', '28708', '2870822', 'abcdef', '２８７０８２'])('%j is none', async (typed) => {
    expect(await stepOfCode({ secret, lastStep: 0 }, typed, new Date(59_000))).toBeNull();
  });
});

it('a new secret has 32 characters of base32, and each is another one', () => {
  expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(newTotpSecret());
});

it('the URI writes blanks as %20, and a colon in the name separates nothing', () => {
  const uri = totpUri({ secret: 'ABC', issuer: 'Gate: House', account: 'a+b@company.example' });
  expect(uri).toBe(
    'otpauth://totp/Gate%20%20House:a%2Bb%40company.example?secret=ABC&issuer=Gate%3A%20House&algorithm=SHA1&digits=6&period=30',
  );
});
