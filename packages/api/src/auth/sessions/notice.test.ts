import { afterAll, beforeAll, expect, it } from 'vitest';
import { notices } from '../../platform/db/schema/sessions.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { deleteExpired } from '../delete-expired.ts';
import { consumeNotice, storeNotice } from './notice.ts';

const content = { text: ['The role of ', { name: 'Mia' }, ' was changed.'], tone: 'good' };

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: false });
});
afterAll(() => test.close());

it('a notice is read once out of 20 parallel attempts', async () => {
  const cookie = await storeNotice(test.app, content);
  const read = await Promise.all(Array.from({ length: 20 }, () => consumeNotice(test.app, cookie)));
  expect(read.filter((each) => each !== null)).toEqual([content]);
});

it('a notice is stored under a hash of its cookie, and a cookie that was not issued reads none', async () => {
  const cookie = await storeNotice(test.app, content);
  expect(JSON.stringify(await test.app.db.select().from(notices))).not.toContain(cookie);
  expect(await consumeNotice(test.app, `${cookie}x`)).toBeNull();
  expect(await consumeNotice(test.app, JSON.stringify(content))).toBeNull();
});

it('a notice is not shown after five minutes, and is deleted', async () => {
  const cookie = await storeNotice(test.app, content);
  await storeNotice(test.app, content);
  test.advance(5 * 60_000);
  expect(await consumeNotice(test.app, cookie)).toBeNull();
  test.advance(1000);
  await deleteExpired(test.app);
  expect(await test.app.db.select().from(notices)).toEqual([]);
});
