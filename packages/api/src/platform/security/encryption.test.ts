import { expect, it } from 'vitest';
import { decryptSecret, encryptSecret, keyNames } from './encryption.ts';

const [first, second] = ['first key of thirty-two characters', 'second key of thirty-two characters'];
const purpose = 'totp of a user';

it('returns the text under every configured key, and the first one encrypts', () => {
  const older = encryptSecret([first], 'secret text', purpose);
  const newer = encryptSecret([second, first], 'secret text', purpose);
  expect(decryptSecret([second, first], older, purpose)).toBe('secret text');
  expect(decryptSecret([second, first], newer, purpose)).toBe('secret text');
  expect([older.encryptedBy, newer.encryptedBy]).toEqual([keyNames([first])[0], keyNames([second])[0]]);
});

it('stores neither the text nor the key, and each time something else', () => {
  const [one, other] = [encryptSecret([first], 'secret text', purpose), encryptSecret([first], 'secret text', purpose)];
  expect(JSON.stringify(one)).not.toMatch(/secret text|first key/);
  expect(one.stored).not.toBe(other.stored);
});

it('returns null without the key, for another purpose and for a changed text', () => {
  const secret = encryptSecret([first], 'secret text', purpose);
  expect(decryptSecret([second], secret, purpose)).toBeNull();
  expect(decryptSecret([], secret, purpose)).toBeNull();
  expect(decryptSecret([first], secret, 'totp of another user')).toBeNull();
  const changed = Buffer.from(secret.stored, 'base64url');
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
  expect(decryptSecret([first], { ...secret, stored: changed.toString('base64url') }, purpose)).toBeNull();
  expect(decryptSecret([first], { ...secret, stored: '' }, purpose)).toBeNull();
});

it('stores the text as it is without a key, and returns it once there is one', () => {
  const plain = encryptSecret([], 'text', purpose);
  expect(plain).toEqual({ stored: 'text', encryptedBy: '' });
  expect(decryptSecret([first], plain, purpose)).toBe('text');
});
