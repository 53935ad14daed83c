import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyPassword } from '../../platform/security/password.ts';
import { startTestApp, type TestApp } from '../../testing/app.ts';
import { callerFor, makeIdentity, newEmail, testClient, tokenIn } from '../../testing/factories.ts';
import { accountByEmail } from '../sessions/account.ts';
import { matchUser } from '../sign-in/match-user.ts';
import { signUp, signUpInput } from '../sign-up/sign-up.ts';
import type { Outcome } from './link.ts';
import { sendVerification } from './send-verification.ts';
import { verifyEmail } from './verify-email.ts';

// No job worker runs: each order sends its mails itself, in sequence, so that a failing order can be repeated.
let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ work: false, environment: { APPROVED_DOMAINS: 'company.example' } });
});
afterAll(() => test.close());

/** Two people sign up with one address. The service does not know which of them has the mailbox. */
type Account = 'A' | 'B';
type Browser = Account | 'scanner';
type Act =
  | { do: 'sign up'; who: Account }
  | { do: 'resend' }
  | { do: 'open'; browser: Browser; link: number }
  | { do: 'keep'; browser: Browser; page: number }
  | { do: 'choose'; browser: Browser; page: number }
  | { do: 'identity provider' };

const person = fc.constantFrom<Account>('A', 'B');
const browser = fc.constantFrom<Browser>('A', 'B', 'scanner');
const index = fc.nat(5);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('sign up' as const), who: person }) },
  { weight: 1, arbitrary: fc.constant({ do: 'resend' as const }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('open' as const), browser, link: index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('keep' as const), browser, page: index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('choose' as const), browser, page: index }) },
  { weight: 1, arbitrary: fc.constant({ do: 'identity provider' as const }) },
);

type Page = { outcome: Outcome; browser: Browser };

/** One order of events for an address of its own, and which browsers presented a link or the token of its page. */
class Order {
  email = newEmail();
  subject = randomUUID();
  cookies: Partial<Record<Browser, string>> = {};
  links: string[] = [];
  pages: Page[] = [];
  presented = new Set<Browser>();
  /** The hash that was checked last. */
  checked: string | null = null;
  /** Every password that was typed, and in which browser. */
  typed = new Map<string, Browser>();

  async play(acts: Act[]): Promise<void> {
    for (const each of acts) {
      await this.run(each);
      await this.check();
    }
  }

  async run(each: Act): Promise<void> {
    if (each.do === 'sign up') return this.signUp(each.who);
    if (each.do === 'resend') return this.mail({ email: this.email });
    if (each.do === 'open') return this.open(each.browser, this.links[each.link % (this.links.length || 1)]);
    if (each.do === 'identity provider') return this.signInThroughProvider();
    const page = this.pages[each.page % (this.pages.length || 1)];
    if (page === undefined || !('offers' in page.outcome)) return;
    const { keepToken, password } = page.outcome.offers;
    if (each.do === 'keep' && keepToken !== null) return this.keep(each.browser, keepToken);
    if (each.do === 'choose' && password !== null) return this.choose(each.browser, password.token);
  }

  async signUp(who: Account): Promise<void> {
    const password = this.phrase(who);
    const typed = signUpInput.parse({ email: this.email, password, org_name: `Of ${who}` });
    this.cookies[who] = (await signUp(test.app, typed, testClient, this.cookies[who] ?? null)).browserToken;
    const [job] = await test.app.sql`
      select data->>'signUpId' as id from pgboss.job
      where name = 'verification-mail' and data->>'email' = ${this.email} order by created_on desc limit 1`;
    await this.mail({ email: this.email, signUpId: job?.id });
  }

  async mail(job: Parameters<typeof sendVerification>[1]): Promise<void> {
    const before = test.sandbox.mailbox.messages(this.email).length;
    test.advance(61_000);
    await sendVerification(test.app, job);
    const mails = test.sandbox.mailbox.messages(this.email);
    if (mails.length > before) this.links.push(tokenIn(mails[0]?.text));
  }

  async open(browser: Browser, token: string | undefined): Promise<void> {
    if (token === undefined) return;
    this.presented.add(browser);
    const browserToken = this.cookies[browser] ?? null;
    this.pages.push({ outcome: await verifyEmail(test.app, { token, browserToken }, testClient), browser });
  }

  async keep(browser: Browser, token: string): Promise<void> {
    this.presented.add(browser);
    const session = { browserToken: () => this.cookies[browser] ?? null };
    await callerFor(test, null, { session }).accounts.keepPassword({ token }).catch(expectNotValid);
  }

  async choose(browser: Browser, token: string): Promise<void> {
    this.presented.add(browser);
    const password = this.phrase(browser);
    await callerFor(test, null).accounts.setPassword({ token, password, org_name: 'Chosen' }).catch(expectNotValid);
  }

  async signInThroughProvider(): Promise<void> {
    const identity = makeIdentity({ email: this.email, subject: this.subject });
    // A new password by a lost-password link unlinks the subject, which is then refused.
    const matched = test.app.db.transaction((tx) => matchUser(test.app, tx, identity, testClient));
    await matched.catch((error) => expect(String(error)).toContain('the subject was unlinked'));
  }

  phrase(browser: Browser): string {
    const phrase = `pass phrase ${randomUUID()}`;
    this.typed.set(phrase, browser);
    return phrase;
  }

  /** A password is valid only if it was typed in a browser that presented the link, or its page's token, itself. */
  async check(): Promise<void> {
    const held = await accountByEmail(test.app.db, this.email);
    if (held === null || held.user.passwordHash === this.checked) return;
    this.checked = held.user.passwordHash;
    if (this.checked === null) return;
    expect(held.user.emailVerifiedAt).not.toBeNull();
    for (const [phrase, browser] of this.typed) {
      if (this.presented.has(browser)) continue;
      expect([phrase, browser, await verifyPassword(this.checked, phrase, testClient)]).toEqual([
        phrase,
        browser,
        false,
      ]);
    }
  }
}

function expectNotValid(error: unknown): void {
  expect(error).toMatchObject({ cause: { code: 'VALIDATION' } });
}

it('makes no password valid that was typed in a browser which presented neither link nor token, in any order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 12 }), (acts) => new Order().play(acts)),
    { numRuns: 30 },
  );
});

it('never makes an attacker’s password valid, whenever the attacker signs up and whatever the holder of the mailbox does', async () => {
  const holders: fc.Arbitrary<Act> = act.filter((each) => !('browser' in each) || each.browser !== 'A');
  await fc.assert(
    fc.asyncProperty(fc.array(holders, { minLength: 4, maxLength: 12 }), async (acts) => {
      const order = new Order();
      await order.play([{ do: 'sign up', who: 'A' }, ...acts]);
      const held = await accountByEmail(test.app.db, order.email);
      const ofA = [...order.typed].filter(([, browser]) => browser === 'A').map(([phrase]) => phrase);
      for (const phrase of ofA) {
        expect(await verifyPassword(held?.user.passwordHash ?? null, phrase, testClient)).toBe(false);
      }
    }),
    { numRuns: 15 },
  );
});
