import { expect, test } from 'vitest';
import { formFields, text } from './form-fields.ts';

const encoded = 'application/x-www-form-urlencoded';
const boundary = 'multipart/form-data; boundary=x';
const part = '--x\r\nContent-Disposition: form-data; name="password"\r\n\r\n';

function post(body: string, type: string): Parameters<typeof formFields>[0] {
  const request = new Request('http://localhost:3999/login', { method: 'POST', headers: { 'content-type': type } });
  return { request, locals: { body: Buffer.from(body, 'latin1') } as App.Locals };
}

test.each([
  ['a byte', 'password=caf\xe9-and-more', encoded],
  ['an escaped byte', 'password=caf%E9-and-more', encoded],
  ['half a character', 'password=caf%C3-and-more', encoded],
  ['a surrogate', 'password=%ED%A0%80', encoded],
  ['a byte of a multipart form', `${part}caf\xe9\r\n--x--\r\n`, boundary],
])('%s that is invalid in UTF-8 is refused, and not read as something else', async (_what, body, type) => {
  await expect(formFields(post(body, type))).rejects.toMatchObject({ status: 400 });
});

test.each([
  ['characters of every length', `password=${encodeURIComponent('é€😀')}+x`, encoded, 'é€😀 x'],
  ['characters that are not escaped', 'password=\xc3\xa9', encoded, 'é'],
  ['a percent sign that is not escaped', 'password=100%+of%zz%', encoded, '100% of%zz%'],
  ['a multipart form', `${part}\xc3\xa9%E9\r\n--x--\r\n`, boundary, 'é%E9'],
])('%s are read as they were sent', async (_what, body, type, password) => {
  expect(text(await formFields(post(body, type)), 'password')).toBe(password);
});
